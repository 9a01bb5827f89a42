/** Adds an error code to responses for requests that Node or `ws` reject before any route. */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { refusals } from '@liminal/protocol';
import type { FastifyInstance } from 'fastify';
import { errors, type RequestError } from '../errors.ts';
import { errorBody } from './error-answers.ts';

/** The error for each error code of Node's parser. */
const errorsOfParser: Record<string, () => RequestError> = {
  ERR_HTTP_REQUEST_TIMEOUT: errors.REQUEST_TIMEOUT.slow,
  HPE_HEADER_OVERFLOW: errors.HEADERS_TOO_LARGE.headers,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: errors.BODY_TOO_LARGE.extensions,
};

/** Rejects requests that Node's parser cannot read. */
export function refuseBrokenRequest({ code = '' }: { code?: string }, socket: Duplex): void {
  const makeError = errorsOfParser[code] ?? errors.INVALID_REQUEST.notHttp;
  if (makeError === errors.REQUEST_TIMEOUT.slow) refuseSlowRequest(socket);
  else refuse(socket, makeError());
}

/**
 * Rejects a request if its head or body has stopped arriving. If the client has sent nothing, no response is sent,
 * because browsers open connections in advance.
 */
export function refuseSlowRequest(socket: Duplex): void {
  if (socket instanceof Socket && socket.bytesRead === 0) socket.destroy();
  else refuse(socket, errors.REQUEST_TIMEOUT.slow());
}

/**
 * Adds an error code to the responses for failed WebSocket handshakes; `@fastify/websocket` must be registered already.
 */
export function refuseBrokenRequests(app: FastifyInstance): void {
  app.websocketServer.on('wsClientError', (_error, socket) => {
    refuse(socket, errors.INVALID_REQUEST.handshake());
  });
}

/** Rejects a request with an unsupported `Expect` header. */
export function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify(errorBody(errors.INVALID_REQUEST.expectation()));
  response.writeHead(400, { 'content-type': 'application/json', connection: 'close' }).end(body);
}

function refuse(socket: Duplex, error: RequestError): void {
  if (!socket.writable) return void socket.destroy();
  const status = refusals[error.code];
  const body = JSON.stringify(errorBody(error));
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
  // If the client never closed its side, the connection would stay open and count toward the limit.
  if (socket instanceof Socket) socket.destroySoon();
}
