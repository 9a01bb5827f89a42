import type { FastifyReply, FastifyRequest } from 'fastify';

/** Whether the client accepts HTML, as browsers do. */
export function takesHtml({ headers }: FastifyRequest): boolean {
  return (headers.accept ?? '').includes('text/html');
}

/** Sends a page that must not be cached. */
export function sendPage(reply: FastifyReply, status: number, html: string): FastifyReply {
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(html);
}
