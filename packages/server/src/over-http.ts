/** The HTTP under Fastify: how connections and requests are read, and how many of them there may be. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { ID_MAX } from '@liminal/protocol';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import { upgradeOf } from './auth/access.ts';
import { refuseBrokenRequest, refuseExpectation } from './http/broken-requests.ts';
import { answerError } from './http/errors.ts';
import { boundHeldBytes } from './held-bytes.ts';
import { boundBodies } from './http/request-bodies.ts';
import type { Limits } from './limits.ts';
import { boundStrangers } from './strangers.ts';

/** How long a connection may be idle between two requests, ms: longer than the minute of most proxies. */
const KEEP_ALIVE_MS = 72_000;

/** Fastify's options for a server with these limits. */
export function overHttp(limits: Limits, { takesUpgrades }: { takesUpgrades: boolean }) {
  return {
    routerOptions: { maxParamLength: ID_MAX },
    forceCloseConnections: true,
    frameworkErrors: (error, request, reply) => void answerError(error, request, reply),
    clientErrorHandler: refuseBrokenRequest,
    // Of its own servers Fastify bounds the first alone, and listens on `localhost` with two.
    serverFactory: (handler) =>
      createServer(
        {
          // The guard refuses requests without a host.
          requireHostHeader: false,
          // Clients may offer what nobody here speaks, such as HTTP/2: their requests are answered as they are.
          shouldUpgradeCallback: (request) => takesUpgrades && upgradeOf(request) !== undefined,
          // A body may take its time: `boundBodies`.
          requestTimeout: 0,
          headersTimeout: limits.headMs,
          connectionsCheckingInterval: limits.headMs / 4,
          keepAliveTimeout: KEEP_ALIVE_MS,
        },
        boundPipeline(handler, limits.pipelined),
      ),
  } satisfies FastifyServerOptions<Server>;
}

/** Bounds what the clients of a new server can make it hold. Must be called before `guardRequests`. */
export function boundClients(app: FastifyInstance, limits: Limits): void {
  app.server.on('checkExpectation', boundPipeline(refuseExpectation, limits.pipelined));
  boundStrangers(app, limits);
  boundBodies(app, limits);
  boundHeldBytes(app, limits);
}

/**
 * Ends a connection on which more than `max` requests wait for their answers. Node hands over all requests of a packet
 * at once, and 64 KiB hold thousands.
 */
function boundPipeline(handler: RequestListener, max: number): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > max) return endUnread(socket);
    waiting.set(socket, count);
    // Fastify and its static files alone wait for the end of an answer in nearly ten places.
    response.setMaxListeners(20);
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
    handler(request, response);
  };
}

/**
 * Ends a connection in the middle of a packet. Node would hand over the rest of the packet all the same, so its parser
 * (not in Node's types) is made to take the rest for another protocol, as after an upgrade.
 */
function endUnread(socket: Socket & { parser?: { onIncoming: () => number } | null }): void {
  const anotherProtocol = 2;
  if (socket.parser) socket.parser.onIncoming = () => anotherProtocol;
  socket.destroy();
}
