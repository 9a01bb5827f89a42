import type { WebSocket } from '@fastify/websocket';
import type { Runtime } from '@liminal/runtime';
import { errors } from '../errors.ts';
import type { Connections } from '../connections.ts';
import type { App } from '../http/schema.ts';
import type { Limits } from '../limits.ts';
import { WebSocketConnection } from './connection.ts';
import { watchLiveness } from './liveness.ts';
import { endSignedOut } from './signed-out.ts';

interface WebSocketRouteOptions {
  runtime: Runtime;
  connections: Connections;
  limits: Limits;
}

/** The WebSocket routes. `@fastify/websocket` must be registered already. Clients send commands over HTTP. */
export async function webSocketRoute(app: App, options: WebSocketRouteOptions) {
  const { connections, limits } = options;
  app.route({
    method: 'GET',
    url: '/ws',
    config: { upgrades: ['websocket'] },
    onRequest: async () => {
      if (!connections.isFull) return;
      throw errors.TOO_MANY_CONNECTIONS.streams();
    },
    handler: async () => {
      throw errors.INVALID_REQUEST.noWebSocket();
    },
    wsHandler: (socket: WebSocket, request) => {
      const leave = connections.enter('websocket');
      const connection = new WebSocketConnection(socket, options);
      watchLiveness(socket, limits.heartbeatMs, request.raw.socket);
      socket.on('ping', (data) => connection.pong(data));
      request.deviceConnection?.endBy(() => {
        connection.close();
        endSignedOut(socket);
      });
      socket.on('message', (data) => connection.receive(asText(data)));
      socket.once('close', () => {
        connection.close();
        leave();
      });
    },
  });
}

function asText(data: Buffer | ArrayBuffer | Buffer[]): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return Buffer.from(data as ArrayBuffer).toString('utf8');
}
