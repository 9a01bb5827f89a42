/** Adds an error code to responses for requests that Node or `ws` reject before any route. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { errorBody, type ServerErrorCode } from './errors.ts';

interface Refusal {
  status: string;
  code: ServerErrorCode;
  message: string;
}

const broken: Refusal = {
  status: '400 Bad Request',
  code: 'INVALID_REQUEST',
  message: 'This is not an HTTP request.',
};
const slow: Refusal = {
  status: '408 Request Timeout',
  code: 'REQUEST_TIMEOUT',
  message: 'The rest of the request did not arrive in time. Send the request again.',
};
/** The error for each error code of Node's parser. */
const refusals: Record<string, Refusal> = {
  ERR_HTTP_REQUEST_TIMEOUT: slow,
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: 'HEADERS_TOO_LARGE',
    message:
      'The address and the headers of the request are too large. Send fewer or shorter ones.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: '413 Payload Too Large',
    code: 'BODY_TOO_LARGE',
    message: 'The extensions of the chunks of the body are too large. Send the body without them.',
  },
};

/** Rejects requests that Node's parser cannot read. */
export function refuseBrokenRequest({ code = '' }: { code?: string }, socket: Duplex): void {
  const refusal = refusals[code] ?? broken;
  if (refusal === slow) refuseSlowRequest(socket);
  else refuse(socket, refusal);
}

/**
 * Rejects a request if its head or body has stopped arriving. If the client has sent nothing, no response is sent,
 * because browsers open connections in advance.
 */
export function refuseSlowRequest(socket: Duplex): void {
  if (socket instanceof Socket && socket.bytesRead === 0) socket.destroy();
  else refuse(socket, slow);
}

/**
 * Adds an error code to the responses for failed WebSocket handshakes; `@fastify/websocket` must be registered already.
 */
export function refuseBrokenRequests(app: FastifyInstance): void {
  app.websocketServer.on('wsClientError', (_error, socket) => {
    refuse(socket, { ...broken, message: 'The WebSocket handshake is invalid.' });
  });
}

/** Rejects a request with an unsupported `Expect` header. */
export function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify(errorBody('INVALID_REQUEST', 'The Expect header is not supported.'));
  response.writeHead(400, { 'content-type': 'application/json', connection: 'close' }).end(body);
}

function refuse(socket: Duplex, { status, code, message }: Refusal): void {
  if (!socket.writable) return void socket.destroy();
  const body = JSON.stringify(errorBody(code, message));
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
  // If the client never closed its side, the connection would stay open and count toward the limit.
  if (socket instanceof Socket) socket.destroySoon();
}
