/** Checks which pages may send requests, as protection against cross-site requests and WebSockets. */
import type { FastifyRequest } from 'fastify';

const safeMethods = ['GET', 'HEAD'];

/** The reason to reject a request because of its origin; undefined if the request is allowed. */
export function originProblem(
  request: FastifyRequest,
  allowedOrigins: readonly string[],
  hasBearer: boolean,
): string | undefined {
  const { origin } = request.headers;
  if (origin !== undefined) {
    if (isSameOrigin(origin, request.headers.host) || allowedOrigins.includes(origin)) return;
    return 'Pages of another origin may not use this server.';
  }
  if (isForeignFetch(request)) return 'Pages of another site may not use this server.';
  const unsafe = !safeMethods.includes(request.method) || request.ws;
  if (unsafe && !hasBearer) {
    return 'A request that changes something needs an Origin, or its token as "Authorization: Bearer …".';
  }
  return undefined;
}

/** The Host header was checked before, so a page with the same host is one of ours. */
function isSameOrigin(origin: string, host: string | undefined): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}

/**
 * Browsers mark cross-site requests in `Sec-Fetch-Site`, also if they send no Origin. A link on another site that leads
 * to a page of ours is harmless.
 */
function isForeignFetch({ headers, method }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== 'cross-site' && site !== 'same-site') return false;
  return method !== 'GET' || headers['sec-fetch-mode'] !== 'navigate';
}
