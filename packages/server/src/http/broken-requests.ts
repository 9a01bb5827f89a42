/** Gives a code to requests that Node or `ws` would refuse before any route, in words of their own. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { errorBody } from './errors.ts';

/** For data that is not even HTTP. */
export function refuseBrokenRequest(_error: Error, socket: Duplex): void {
  refuse(socket, 'This is not an HTTP request.');
}

/** Adds the rest to an instance; `@fastify/websocket` must be registered already. */
export function refuseBrokenRequests(app: FastifyInstance): void {
  app.websocketServer.on('wsClientError', (_error, socket) => {
    refuse(socket, 'This is not how a WebSocket is opened.');
  });
  app.server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const body = JSON.stringify(errorBody('INVALID_REQUEST', 'What is expected cannot be met.'));
    response.writeHead(400, { 'content-type': 'application/json', connection: 'close' }).end(body);
  });
}

function refuse(socket: Duplex, message: string): void {
  if (!socket.writable) return void socket.destroy();
  const body = JSON.stringify(errorBody('INVALID_REQUEST', message));
  socket.end(
    `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
  // A client that never ends its side would otherwise keep the connection, and its place within the limit.
  if (socket instanceof Socket) socket.destroySoon();
}
