import type { FastifyInstance } from 'fastify';
import { errors } from '../errors.ts';
import { escapeHtml } from './layout.ts';
import { sendPage } from './send-page.ts';

/** The frame's policy: the frame can show one image and do nothing else. */
const policy = [
  "default-src 'none'",
  'img-src https:',
  "style-src 'unsafe-inline'",
  "frame-ancestors 'self'",
  'sandbox',
].join('; ');

/**
 * Adds the route of a page for a frame. The page shows one image from the web, for a user who has chosen to see this
 * image. The app's own policy allows no images of other sites, so that an agent's text cannot send data to another
 * server. The frame's policy allows this one image. The browser fetches the image; the server does not.
 */
export function imageFrameRoute(app: FastifyInstance): void {
  app.route<{ Querystring: { url?: unknown } }>({
    method: 'GET',
    url: '/api/image-frame',
    // A frame cannot send the browser's key. The response contains no data of Liminal.
    config: { access: 'page' },
    handler: async ({ query }, reply) => {
      const { url } = query;
      if (typeof url !== 'string' || url.length > 4096 || !isOverTls(url)) {
        throw errors.INVALID_QUERY.noImage();
      }
      reply.header('content-security-policy', policy).header('x-frame-options', 'SAMEORIGIN');
      return sendPage(reply, 200, imagePage(url));
    },
  });
}

function isOverTls(url: string): boolean {
  return URL.canParse(url) && new URL(url).protocol === 'https:';
}

function imagePage(url: string): string {
  return `<!doctype html>
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>Image</title>
<style>body { margin: 0 } img { display: block; max-width: 100%; max-height: 100vh; margin: 0 auto }</style>
<img src="${escapeHtml(url)}" alt="The image could not be loaded." referrerpolicy="no-referrer">
`;
}
