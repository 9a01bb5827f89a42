import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { errors } from './errors.ts';
import { errorBody } from './http/error-answers.ts';
import { notBuiltPage } from './pages/messages.ts';
import { sendPage, takesHtml } from './pages/send-page.ts';

/**
 * The headers of the page in which the app draws diagrams. The page runs only the script inside the page, loads
 * nothing, and has an opaque origin even if it is opened directly.
 */
const diagramFrameHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    // The policy inside the page allows one script, by the script's hash.
    "script-src 'unsafe-inline'",
    "style-src 'unsafe-inline'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    'sandbox allow-scripts',
  ].join('; '),
  'x-frame-options': 'SAMEORIGIN',
};

/**
 * Serves the web app from its folder: files with a hash in their name are cached without a limit, all other files are
 * revalidated. Compressed files from the build (`.br`, `.gz`) are sent to clients that accept them. For an address
 * without a file, the app itself is sent, and the app interprets the address. Files are looked up on each request, so a
 * new build is served immediately.
 */
export async function serveWebApp(app: FastifyInstance, webDir: string): Promise<void> {
  const isBuilt = (): boolean => existsSync(join(webDir, 'index.html'));
  await app.register(async (files) => {
    files.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'page' };
    });
    await files.register(fastifyStatic, {
      root: webDir,
      cacheControl: false,
      index: 'index.html',
      preCompressed: true,
      dotfiles: 'ignore',
      // If the build is missing, the server sends a page that says so. Therefore no warning is needed.
      suppressWarning: true,
      setHeaders: (reply, path) => {
        const immutable = path.startsWith(join(webDir, 'assets'));
        reply.header(
          'cache-control',
          immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
        );
        if (path.startsWith(join(webDir, 'diagram-frame.html'))) reply.headers(diagramFrameHeaders);
      },
    });
    // Send `index.html` by name: for the index of a folder, fastify-static does not send the compressed file.
    files.get('/', async (_, reply) =>
      isBuilt() ? reply.sendFile('index.html') : reply.callNotFound(),
    );
  });

  app.setNotFoundHandler((request, reply) => {
    if (isAppAddress(request)) {
      if (!isBuilt()) return sendPage(reply, 503, notBuiltPage());
      return reply.sendFile('index.html');
    }
    const what = `${request.method} ${request.url.split('?')[0]}`;
    return reply.code(404).send(errorBody(errors.NOT_FOUND.route(what)));
  });
}

/** Whether a browser shows the app at this address. */
function isAppAddress(request: FastifyRequest): boolean {
  const { method, url } = request;
  return (method === 'GET' || method === 'HEAD') && takesHtml(request) && !url.startsWith('/api/');
}
