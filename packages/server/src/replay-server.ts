import cookie from '@fastify/cookie';
import { serverOperations } from '@liminal/protocol';
import Fastify, { type FastifyInstance } from 'fastify';
import { errors } from './errors.ts';
import type { Credentials } from './auth/credentials.ts';
import { guardRequests } from './auth/guard.ts';
import { sendBlob } from './http/blob-routes.ts';
import { answerError } from './http/error-answers.ts';
import { sendExport } from './http/export-routes.ts';
import { healthRoutes } from './http/health-routes.ts';
import { routeOf } from './http/routes.ts';
import { type App, checkByZod } from './http/schema.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { boundClients, overHttp } from './over-http.ts';
import { signInScriptRoute } from './pages/sign-in-script.ts';
import { serveWebApp } from './static.ts';

/** A session's file, which a page replays. */
export interface ReplayedFile {
  sessionId: string;
  /** Reads the uncompressed file. */
  read: () => AsyncIterable<Uint8Array>;
  /** The blobs of the file. The key is the hash. */
  blobs: ReadonlyMap<string, { mimeType: string; read: () => Promise<Uint8Array> }>;
}

interface ReplayServerOptions {
  file: ReplayedFile;
  version: string;
  /** The folder of the built web app. */
  webDir: string;
  credentials: Credentials;
  host: string;
  limits?: Partial<Limits>;
}

/**
 * Serves one file, together with the page that replays it, to signed-in browsers. The server runs no agents and stores
 * nothing.
 */
export async function createReplayServer(options: ReplayServerOptions): Promise<FastifyInstance> {
  const { file, version, webDir } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const app = Fastify(overHttp(limits, { takesUpgrades: false }));
  boundClients(app, limits);
  app.setErrorHandler(answerError);
  await app.register(cookie);
  guardRequests(app, { ...options, allowedHosts: [], allowedOrigins: [] });
  signInScriptRoute(app);
  await app.register(async (api) => fileRoutes(checkByZod(api, false), file, version));
  await serveWebApp(app, webDir);
  return app;
}

async function fileRoutes(app: App, { sessionId, read, blobs }: ReplayedFile, version: string) {
  app.addHook('onSend', async (_request, reply) => {
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
  });
  await healthRoutes(app, { version, runtime: { troubles: async () => [] } });
  app.route({
    ...routeOf(serverOperations.exportSession),
    handler: async ({ params: { id } }, reply) => {
      if (id === sessionId) return sendExport(reply, read());
      throw errors.SESSION_NOT_FOUND.notInFile();
    },
  });
  app.route({
    ...routeOf(serverOperations.getBlob),
    handler: async ({ params: { hash } }, reply) => {
      const blob = blobs.get(hash);
      if (!blob) throw errors.BLOB_NOT_FOUND.notInFile();
      return sendBlob(reply, { mimeType: blob.mimeType, bytes: await blob.read() });
    },
  });
}
