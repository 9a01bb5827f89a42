/** Every request and every upgrade passes here first: checks its host, its origin and its credentials. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RequestError } from '../http/errors.ts';
import { signedInPage, signInScriptPath, unauthorizedPage } from '../pages/messages.ts';
import { isPageAddress, sendPage, wantsPage } from '../pages/send-page.ts';
import { type HostOptions, isHostAllowed, localPort } from './host.ts';
import { isUpgrade, refuseOrigin } from './origin.ts';
import type { Credentials } from './credentials.ts';

export interface GuardOptions extends HostOptions {
  credentials: Credentials;
  /** Other origins whose pages may send requests, as a browser writes them: `https://name`. */
  allowedOrigins: readonly string[];
}

/** Browsers keep no cookie for longer than 400 days. */
const cookieAge = 400 * 24 * 60 * 60;
const openPaths = ['/healthz', '/readyz', signInScriptPath];
/** Paths for which a cookie is enough, since a frame cannot send more: their answers contain nothing of ours. */
const cookiePaths = ['/api/image-frame'];
/** How a browser sends its key: in a header, or among the protocols of a WebSocket, which has no custom headers. */
const keyHeader = 'x-liminal-key';
const keyProtocol = 'liminal.key.';

/** Adds the checks to an instance; `@fastify/cookie` must be registered already. */
export function guardRequests(app: FastifyInstance, options: GuardOptions): void {
  const { credentials } = options;

  app.addHook('onRequest', async (request, reply) => {
    reply.headers(securityHeaders);
    // The connection of a refused upgrade has no further use.
    if (isUpgrade(request)) reply.header('connection', 'close');
    const isProgram = hasToken(request, credentials);
    checkSource(request, options, isProgram);
    const { path, secret } = splitLink(request.url);
    const isLink = secret !== undefined && isPageAddress(request);
    const link = isLink ? credentials.takeLink(secret) : undefined;
    if (link === 'in') return letIn(request, reply, path, credentials);
    if (openPaths.includes(path)) return;
    if (isProgram || isSignedIn(request, credentials)) return;
    if (wantsPage(request)) return sendPage(reply, 401, unauthorizedPage(link));
    throw new RequestError(
      'UNAUTHORIZED',
      'Send the token as "Authorization: Bearer …", or open the link that the server printed.',
    );
  });
}

function checkSource(request: FastifyRequest, options: GuardOptions, isProgram: boolean): void {
  if (!isHostAllowed(request, options)) {
    throw new RequestError(
      'HOST_NOT_ALLOWED',
      'This server does not go by that name. Use the address it printed, or add the name to "allowedHosts".',
    );
  }
  const refusal = refuseOrigin(request, options.allowedOrigins, isProgram);
  if (refusal !== undefined) throw new RequestError('ORIGIN_NOT_ALLOWED', refusal);
}

/** Signs the browser in. Its page stores the key for our origin only, and replaces the link in its history. */
function letIn(
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  credentials: Credentials,
) {
  const { cookie, key } = credentials.newDevice();
  reply.setCookie(cookieName(request), cookie, { ...cookieOptions, maxAge: cookieAge });
  return sendPage(reply, 200, signedInPage(path, key));
}

const cookieOptions = { path: '/', httpOnly: true, sameSite: 'strict' } as const;

/** Removes a browser's cookie. */
export function clearDevice(request: FastifyRequest, reply: FastifyReply): void {
  reply.clearCookie(cookieName(request), cookieOptions);
}

/** The signed-in browser of a request's cookie. */
export function deviceIn(request: FastifyRequest, credentials: Credentials): string | undefined {
  const cookie = request.cookies[cookieName(request)];
  return cookie === undefined ? undefined : credentials.deviceOf(cookie);
}

/** A cookie alone opens only pages, which are the same for everyone: it is sent to all ports of our host. */
function isSignedIn(request: FastifyRequest, credentials: Credentials): boolean {
  const device = deviceIn(request, credentials);
  if (device === undefined) return false;
  const path = request.url.split('?')[0] ?? '';
  if (isPageAddress(request) || cookiePaths.includes(path)) return true;
  const key = keyIn(request);
  return key !== undefined && credentials.isKeyOf(device, key);
}

function keyIn({ headers }: FastifyRequest): string | undefined {
  const key = headers[keyHeader];
  if (typeof key === 'string') return key;
  const protocols = headers['sec-websocket-protocol']?.split(',').map((one) => one.trim());
  const named = protocols?.find((one) => one.startsWith(keyProtocol));
  return named?.slice(keyProtocol.length);
}

function hasToken({ headers }: FastifyRequest, credentials: Credentials): boolean {
  const [, token] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  return token !== undefined && credentials.isToken(token);
}

/** Cookies do not distinguish ports, so two servers on one machine need two names. */
function cookieName(request: FastifyRequest): string {
  return `liminal_${localPort(request)}`;
}

/** A link's secret, a code or the token, and its path without that; the path never leads to another host. */
function splitLink(url: string): { path: string; secret: string | undefined } {
  const [pathname = '/', ...rest] = url.split('?');
  if (rest.length === 0) return { path: `/${pathname.replace(/^[/\\]+/, '')}`, secret: undefined };
  const search = new URLSearchParams(rest.join('?'));
  const secret = search.get('code') ?? search.get('token') ?? undefined;
  search.delete('code');
  search.delete('token');
  const path = `/${pathname.replace(/^[/\\]+/, '')}`;
  return { path: search.size === 0 ? path : `${path}?${search}`, secret };
}

/** Sent with every answer: our pages load nothing foreign, and no foreign page embeds or reads ours. */
const securityHeaders = {
  'content-security-policy': [
    "default-src 'self'",
    "script-src 'self'",
    // Rendered code and diagrams are coloured by style attributes.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
};
