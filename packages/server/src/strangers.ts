/**
 * Strangers are connections on which no request had full credentials: the token, or a cookie with its key. For a new
 * connection, only the client's address is known, so strangers get few connections and little time. A client with full
 * credentials may keep its connection without a limit.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { refuseSlowRequest } from './http/broken-requests.ts';
import type { Limits } from './limits.ts';

type StrangerLimits = Pick<Limits, 'connections' | 'strangers' | 'headMs'>;

/**
 * Limits the number and the time of strangers' connections. If the limit is reached, a new stranger's connection
 * replaces the oldest one, so that people who sign in or return can always connect. Must be called before
 * `guardRequests`.
 */
export function boundStrangers({ server }: FastifyInstance, limits: StrangerLimits): void {
  const { connections, headMs } = limits;
  const maxStrangers = Math.max(1, Math.min(limits.strangers, Math.floor(connections / 2)));
  const strangers: Strangers = new Map();
  strangersByServer.set(server, strangers);
  server.maxConnections = connections;
  server.on('connection', (socket: Socket) => {
    const [oldest] = strangers.keys();
    if (oldest !== undefined && strangers.size >= maxStrangers)
      removeStranger(strangers, oldest).destroy();
    strangers.set(socket, undefined);
    limitHeadTime(strangers, socket, headMs);
    socket.once('close', () => removeStranger(strangers, socket));
  });
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    clearTimeout(strangers.get(socket));
    response.once('close', () => limitHeadTime(strangers, socket, headMs));
  });
  server.prependListener('upgrade', ({ socket }: IncomingMessage) => {
    clearTimeout(strangers.get(socket));
  });
}

/**
 * Removes the limits from a connection on which a request had full credentials. A cookie alone is not enough, because
 * browsers send a cookie to every port of our host.
 */
export function admit(server: Server, socket: Socket): void {
  const strangers = strangersByServer.get(server);
  if (strangers) removeStranger(strangers, socket);
}

/** The strangers' connections of a server, oldest first. Each has a timer for its next request. */
type Strangers = Map<Socket, NodeJS.Timeout | undefined>;
const strangersByServer = new WeakMap<Server, Strangers>();

/** Limits the time that a stranger may take for the head of its first or next request. */
function limitHeadTime(strangers: Strangers, socket: Socket, headMs: number): void {
  if (!strangers.has(socket) || socket.destroyed) return;
  clearTimeout(strangers.get(socket));
  const { bytesRead } = socket;
  const end = (): void => {
    // A connection without any data gets no response, because browsers open connections in advance.
    if (socket.bytesRead === bytesRead) socket.destroy();
    else refuseSlowRequest(socket);
  };
  strangers.set(socket, setTimeout(end, headMs));
}

function removeStranger(strangers: Strangers, socket: Socket): Socket {
  clearTimeout(strangers.get(socket));
  strangers.delete(socket);
  return socket;
}
