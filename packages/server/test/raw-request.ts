/** Sends requests with any headers and content. */
import { request as httpRequest } from 'node:http';

export interface RawAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** The error code, if the response is an error. */
  code: string | undefined;
}

interface RawRequest {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

/**
 * Sends a request with any headers. `fetch` cannot do this, because it sets Host and Origin itself. If an upgrade is
 * accepted, the status is 101.
 */
export function rawRequest(
  port: number,
  { method = 'GET', path = '/', headers = {}, body }: RawRequest,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    // For some methods, Node's client sends no length, and the server would then read the body as the next request.
    const isFramed = body === undefined || 'transfer-encoding' in headers;
    const framed = isFramed ? headers : { 'content-length': Buffer.byteLength(body), ...headers };
    const request = httpRequest({ host: '127.0.0.1', port, method, path, headers: framed });
    request.once('error', reject);
    request.once('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: 101, headers: response.headers, text: '', code: undefined });
    });
    request.once('response', (response) => {
      response.setEncoding('utf8');
      let text = '';
      response.on('data', (chunk: string) => (text += chunk));
      response.once('error', reject);
      response.once('end', () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          text,
          code: codeOf(text),
        }),
      );
    });
    request.end(body);
  });
}

/** Headers of a WebSocket upgrade. */
export const upgradeHeaders = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

function codeOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { error?: { code?: string } }).error?.code;
  } catch {
    return undefined;
  }
}
