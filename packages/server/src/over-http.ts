/**
 * The HTTP server that Fastify uses. It limits how connections and requests are read, and how many of them there may
 * be.
 */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { idMax } from '@liminal/protocol';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import { upgradeOf } from './auth/access.ts';
import { refuseBrokenRequest, refuseExpectation } from './http/broken-requests.ts';
import { answerError } from './http/error-answers.ts';
import { boundHeldBytes } from './held-bytes.ts';
import { boundBodies } from './http/request-bodies.ts';
import type { Limits } from './limits.ts';
import { boundStrangers } from './strangers.ts';

/**
 * How long a connection may be idle between two requests, in ms. This is longer than the minute that most proxies
 * allow.
 */
const keepAliveMs = 72_000;

/** Returns Fastify's options for a server with these limits. */
export function overHttp(limits: Limits, { takesUpgrades }: { takesUpgrades: boolean }) {
  return {
    routerOptions: { maxParamLength: idMax },
    forceCloseConnections: true,
    frameworkErrors: (error, request, reply) => void answerError(error, request, reply),
    clientErrorHandler: refuseBrokenRequest,
    // Create the server here: if Fastify created several servers (for `localhost`), only the first of them would have
    // limits.
    serverFactory: (handler) =>
      createServer(
        {
          // The guard rejects requests without a Host header.
          requireHostHeader: false,
          // Upgrades to unsupported protocols, such as HTTP/2, are ignored: the request is answered over HTTP.
          shouldUpgradeCallback: (request) => takesUpgrades && upgradeOf(request) !== undefined,
          // `boundBodies` has separate limits for request bodies.
          requestTimeout: 0,
          headersTimeout: limits.headMs,
          connectionsCheckingInterval: limits.headMs / 4,
          keepAliveTimeout: keepAliveMs,
        },
        boundPipeline(handler, limits.pipelined),
      ),
  } satisfies FastifyServerOptions<Server>;
}

/** Limits how much memory the clients of a new server can use. Must be called before `guardRequests`. */
export function boundClients(app: FastifyInstance, limits: Limits): void {
  app.server.on('checkExpectation', boundPipeline(refuseExpectation, limits.pipelined));
  boundStrangers(app, limits);
  boundBodies(app, limits);
  boundHeldBytes(app, limits);
}

/**
 * Ends a connection on which more than `max` requests wait for their responses. Node delivers all requests of a packet
 * at once, and a packet of 64 KiB can contain thousands of requests.
 */
function boundPipeline(handler: RequestListener, max: number): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > max) return endUnread(socket);
    waiting.set(socket, count);
    // Fastify and its plugin for static files already add nearly ten listeners for the end of a response.
    response.setMaxListeners(20);
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
    handler(request, response);
  };
}

/**
 * Ends a connection without reading the rest of the packet. Node would still deliver the other requests in the packet.
 * Therefore this function makes Node's parser, which is not in Node's types, treat the rest as another protocol, as
 * after an upgrade.
 */
function endUnread(socket: Socket & { parser?: { onIncoming: () => number } | null }): void {
  const anotherProtocol = 2;
  if (socket.parser) socket.parser.onIncoming = () => anotherProtocol;
  socket.destroy();
}
