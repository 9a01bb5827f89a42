import type { FastifyReply, FastifyRequest } from 'fastify';

const apiPaths = /^\/(api\/|ws$|healthz$|readyz$|metrics$|openapi\.json$)/;

/** Whether the client is a browser that shows a page, rather than a program at the API. */
export function wantsPage(request: FastifyRequest): boolean {
  return isPageAddress(request) && (request.headers.accept ?? '').includes('text/html');
}

/** Whether this reads an address outside the API. */
export function isPageAddress({ method, url }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && !apiPaths.test(url.split('?')[0] ?? '');
}

/** Sends a page that must not be cached. */
export function sendPage(reply: FastifyReply, status: number, html: string): FastifyReply {
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(html);
}
