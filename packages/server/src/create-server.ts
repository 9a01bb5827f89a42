import cookie from '@fastify/cookie';
import websocket from '@fastify/websocket';
import type { Runtime, Tracing } from '@liminal/runtime';
import Fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import { errors } from './errors.ts';
import { acpRoutes } from './acp/index.ts';
import { type GuardOptions, guardRequests } from './auth/guard.ts';
import { isLoopback } from './auth/host.ts';
import { Connections } from './connections.ts';
import { refuseBrokenRequests } from './http/broken-requests.ts';
import { answerError, describeError } from './http/error-answers.ts';
import { blobRoutes } from './http/blob-routes.ts';
import { exportRoutes } from './http/export-routes.ts';
import { healthRoutes } from './http/health-routes.ts';
import { openApiRoute } from './http/openapi.ts';
import { traceRequests } from './http/request-spans.ts';
import { checkRefusals, operationRoutes } from './http/routes.ts';
import { type App, checkByZod } from './http/schema.ts';
import { signInRoutes } from './http/sign-in-routes.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { streamRoutes } from './sse/routes.ts';
import { imageFrameRoute } from './pages/image-frame.ts';
import { Metrics } from './metrics/metrics.ts';
import { metricsRoute } from './metrics/metrics-route.ts';
import { boundClients, overHttp } from './over-http.ts';
import { signInScriptRoute } from './pages/sign-in-script.ts';
import { serveWebApp } from './static.ts';
import { traceDelivery } from './trace-delivery.ts';
import { webSocketRoute } from './websocket/route.ts';
import { endFailedSocket } from './websocket/socket-error.ts';

export interface ServerOptions extends GuardOptions {
  runtime: Runtime;
  version: string;
  /** The folder of the built web app. */
  webDir: string;
  /** Allows a `host` that other machines can reach, although the traffic is not encrypted. */
  insecureHost?: boolean;
  limits?: Partial<Limits>;
  /** The object that counts the runtime's work. The default is a new `Metrics`. */
  metrics?: Metrics;
  /** The logger. Without a logger, nothing is logged. */
  logger?: FastifyBaseLogger;
  /** Without tracing, no spans are recorded. */
  tracing?: Tracing;
  /** For tests: checks responses against their schemas, and error codes against the operation's list. */
  checkAnswers?: boolean;
}

/**
 * Serves a runtime on one HTTP server, in all of the server's protocols. The caller must call `listen` with `host`.
 * Closing the server ends every connection, but does not close the runtime. Throws `INSECURE_HOST`.
 */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { host, insecureHost = false, logger, webDir } = options;
  if (!isLoopback(host) && !insecureHost) throw errors.INSECURE_HOST.reachable(host);
  const limits = { ...defaultLimits, ...options.limits };
  const app = Fastify({
    ...(logger && { loggerInstance: logger }),
    bodyLimit: limits.bodyBytes,
    ...overHttp(limits, { takesUpgrades: true }),
  });
  boundClients(app, limits);
  app.setErrorHandler(answerError);
  app.removeContentTypeParser('text/plain');

  await app.register(cookie);
  await app.register(websocket, {
    options: {
      maxPayload: limits.frameBytes,
      handleProtocols: ourProtocol,
      // Handle one frame per turn of the event loop, because one TCP packet can contain thousands of frames.
      allowSynchronousEvents: false,
      // Our own code sends pongs, and counts them together with all other messages.
      autoPong: false,
    },
    preClose,
    errorHandler: endFailedSocket,
  });
  refuseBrokenRequests(app);
  guardRequests(app, options);
  signInScriptRoute(app);
  await app.register(api, { ...options, limits });
  await serveWebApp(app, webDir);
  return app;
}

async function api(app: FastifyInstance, options: ServerOptions & { limits: Limits }) {
  const { runtime, version, limits, checkAnswers = false, tracing } = options;
  const { metrics = new Metrics() } = options;
  const connections = new Connections(limits.streams);
  const typed: App = checkByZod(app, checkAnswers);
  if (checkAnswers) checkRefusals(typed);
  typed.addHook('onError', async (_request, _reply, error) =>
    metrics.refused(describeError(error).body.error.code),
  );
  typed.addHook('onSend', async (_request, reply) => {
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
  });
  if (tracing) traceRequests(typed, tracing);
  openApiRoute(typed, { version });
  await typed.register(healthRoutes, { version, runtime });
  await typed.register(signInRoutes, { credentials: options.credentials });
  await typed.register(operationRoutes, { runtime });
  await typed.register(blobRoutes, { runtime, maxBytes: limits.blobBytes });
  await typed.register(exportRoutes, { runtime, version, maxBytes: limits.importBytes });
  imageFrameRoute(app);
  await typed.register(metricsRoute, { runtime, connections, metrics });
  await typed.register(streamRoutes, {
    runtime: traceDelivery(runtime, 'sse', tracing),
    connections,
    limits,
  });
  await typed.register(webSocketRoute, {
    runtime: traceDelivery(runtime, 'websocket', tracing),
    connections,
    limits,
  });
  await typed.register(acpRoutes, { runtime, version, connections, limits });
}

/**
 * Returns the protocol name of our WebSockets, if the browser offers it. If a browser offers protocols, the server must
 * choose one of the offered protocols.
 */
const ourProtocol = (offered: Set<string>) => (offered.has('liminal') ? 'liminal' : false);

/** Closes every WebSocket with code 1001, so that clients reconnect instead of giving up. */
function preClose(this: FastifyInstance, done: () => void): void {
  for (const client of this.websocketServer.clients) client.close(1001, 'The server is closing.');
  this.websocketServer.close();
  done();
}
