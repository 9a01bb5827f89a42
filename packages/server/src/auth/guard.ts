/** Every request and every upgrade passes here first: whom we are called, who asks, and whether they may. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RequestError } from '../http/errors.ts';
import { continuePage, unauthorizedPage } from '../pages/messages.ts';
import { isPageAddress, sendPage, wantsPage } from '../pages/send-page.ts';
import { securityHeaders } from './headers.ts';
import { type HostOptions, isHostAllowed, localPort } from './host.ts';
import { isUpgrade, refuseOrigin } from './origin.ts';
import { createCredentials, type Credentials } from './token.ts';

export interface GuardOptions extends HostOptions {
  token: string;
  /** Opens the door in a link as the token does, but only once: for a link that others may see, such as a program's argument. */
  linkOnce?: string;
  /** Origins besides our own whose pages may ask, as a browser writes them: `https://name`. */
  allowedOrigins: readonly string[];
}

/** Browsers keep no cookie for longer than 400 days. */
const cookieAge = 400 * 24 * 60 * 60;
const openPaths = ['/healthz'];

/** Adds the checks to an instance; `@fastify/cookie` must be there already. */
export function guardRequests(app: FastifyInstance, options: GuardOptions): void {
  const credentials = createCredentials(options.token, options.linkOnce);

  app.addHook('onRequest', async (request, reply) => {
    reply.headers(securityHeaders);
    // The connection of a refused upgrade is of no further use.
    if (isUpgrade(request)) reply.header('connection', 'close');
    checkSource(request, options, credentials);
    const { path, token } = splitToken(request.url);
    if (token !== undefined && isPageAddress(request) && credentials.takeLink(token)) {
      return letIn(request, reply, path, credentials.cookie);
    }
    if (openPaths.includes(path)) return;
    if (isAuthorised(request, credentials)) return;
    if (wantsPage(request)) return sendPage(reply, 401, unauthorizedPage(token !== undefined));
    throw new RequestError(
      'UNAUTHORIZED',
      'Send the token as "Authorization: Bearer …", or open the link that the server printed.',
    );
  });
}

function checkSource(request: FastifyRequest, options: GuardOptions, credentials: Credentials) {
  if (!isHostAllowed(request, options)) {
    throw new RequestError(
      'HOST_NOT_ALLOWED',
      'This server does not go by that name. Use the address it printed, or add the name to "allowedHosts".',
    );
  }
  const refusal = refuseOrigin(request, options.allowedOrigins, hasToken(request, credentials));
  if (refusal !== undefined) throw new RequestError('ORIGIN_NOT_ALLOWED', refusal);
}

/** Trades the link's token for a cookie, and drops it from the address. */
function letIn(request: FastifyRequest, reply: FastifyReply, path: string, cookie: string) {
  reply.setCookie(cookieName(request), cookie, {
    path: '/',
    httpOnly: true,
    sameSite: 'strict',
    maxAge: cookieAge,
  });
  // On a redirect that began at another site a browser withholds a strict cookie; a page of ours starts anew.
  if (request.headers['sec-fetch-site'] === 'cross-site') {
    return sendPage(reply, 200, continuePage(path));
  }
  return reply.header('cache-control', 'no-store').redirect(path, 303);
}

function isAuthorised(request: FastifyRequest, credentials: Credentials): boolean {
  const cookie = request.cookies[cookieName(request)];
  if (cookie !== undefined && credentials.isCookie(cookie)) return true;
  return hasToken(request, credentials);
}

function hasToken({ headers }: FastifyRequest, credentials: Credentials): boolean {
  const [, token] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  return token !== undefined && credentials.isToken(token);
}

/** Cookies do not tell ports apart, so two servers on one machine need two names. */
function cookieName(request: FastifyRequest): string {
  return `liminal_${localPort(request)}`;
}

/** An address' token, and the address without it; never one that leads to another host. */
function splitToken(url: string): { path: string; token: string | undefined } {
  const [pathname = '/', ...rest] = url.split('?');
  const search = new URLSearchParams(rest.join('?'));
  const token = search.get('token') ?? undefined;
  search.delete('token');
  const path = `/${pathname.replace(/^[/\\]+/, '')}`;
  return { path: search.size === 0 ? path : `${path}?${search}`, token };
}
