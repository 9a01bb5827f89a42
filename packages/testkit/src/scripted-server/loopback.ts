import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** A request as it was received, before an API parses it. */
export interface PlainRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

export interface LoopbackServer {
  readonly url: string;
  /** Ends the server and every open connection. */
  close(): Promise<void>;
}

/** Serves `handle` on a free port on loopback. Errors of `handle` are passed to `fail`. */
export async function serveLoopback(
  handle: (request: PlainRequest, response: ServerResponse) => Promise<void>,
  fail: (response: ServerResponse, error: unknown) => void,
): Promise<LoopbackServer> {
  const server = createServer((incoming, response) => {
    plain(incoming)
      .then((request) => handle(request, response))
      .catch((error: unknown) => fail(response, error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('The scripted server did not get a port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** Resolves when the client ends the connection before the whole answer was sent. */
export async function leftEarly(response: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => {
    response.once('close', () => {
      if (!response.writableFinished) resolve();
    });
  });
}

async function plain(incoming: IncomingMessage): Promise<PlainRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return {
    method: incoming.method ?? 'GET',
    path: incoming.url ?? '/',
    headers: Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    ),
    body: Buffer.concat(chunks).toString('utf8'),
  };
}

/** Resolves when the client ends the connection before its answer is complete. */
export const clientLeaves = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    response.once('close', () => {
      if (!response.writableFinished) resolve();
    });
  });
