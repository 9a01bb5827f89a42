import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { errorBody } from './http/errors.ts';
import { notBuiltPage } from './pages/messages.ts';
import { sendPage, wantsPage } from './pages/send-page.ts';

/**
 * Serves the web app from its folder: files with a hash in their name for good, all else only after asking again. Where
 * the build has put a packed form beside a file (`.br`, `.gz`), those who take it get that.
 * An address that names no file is a place inside the app. Looked up on each request, so a build shows at once.
 */
export async function serveWebApp(app: FastifyInstance, webDir: string): Promise<void> {
  const isBuilt = (): boolean => existsSync(join(webDir, 'index.html'));
  await app.register(fastifyStatic, {
    root: webDir,
    cacheControl: false,
    index: 'index.html',
    preCompressed: true,
    dotfiles: 'ignore',
    // A web app that is not built yet is told of on its page.
    suppressWarning: true,
    setHeaders: (reply, path) => {
      const immutable = path.startsWith(join(webDir, 'assets'));
      reply.header('cache-control', immutable ? 'public, max-age=31536000, immutable' : 'no-cache');
    },
  });

  // By its name: a packed form of a folder's index is not looked for.
  app.get('/', async (_, reply) =>
    isBuilt() ? reply.sendFile('index.html') : reply.callNotFound(),
  );

  app.setNotFoundHandler((request, reply) => {
    if (wantsPage(request)) {
      if (!isBuilt()) return sendPage(reply, 503, notBuiltPage());
      return reply.sendFile('index.html');
    }
    const what = `${request.method} ${request.url.split('?')[0]}`;
    return reply.code(404).send(errorBody('NOT_FOUND', `There is no ${what} here.`));
  });
}
