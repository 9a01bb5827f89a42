/** Checks the host, the origin and the credentials of every request and upgrade, before a route handles it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errors, type RequestError } from '../errors.ts';
import { signedInPage, unauthorizedPage } from '../pages/messages.ts';
import { sendPage, takesHtml } from '../pages/send-page.ts';
import { admit } from '../strangers.ts';
import { accessOf, listRoutes, takesUpgrade } from './access.ts';
import type { Credentials } from './credentials.ts';
import { type DeviceConnection, DeviceConnections } from './device-connections.ts';
import { type HostOptions, isHostAllowed, localPort } from './host.ts';

const safeMethods = ['GET', 'HEAD'];

export interface GuardOptions extends HostOptions {
  credentials: Credentials;
  /** Other origins whose pages may send requests, in the form of the Origin header: `https://name`. */
  allowedOrigins: readonly string[];
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set if the request has a browser's credentials. */
    deviceConnection: DeviceConnection | undefined;
  }
}

/** Browsers keep no cookie for longer than 400 days. */
const cookieAge = 400 * 24 * 60 * 60;
/**
 * The name under which a browser sends its key. The key is in a header of this name, or in one of the protocols of a
 * WebSocket, because a page cannot add headers to a WebSocket.
 */
const keyHeader = 'x-liminal-key';
const keyProtocol = 'liminal.key.';

/**
 * Adds the checks to an instance, before its routes. `@fastify/cookie` and, for upgrades, `@fastify/websocket` must be
 * registered already. The checks depend on the config of the matched route (`access`, `upgrades`), not on the text of
 * the address, because the address of a route can be written in many ways.
 */
export function guardRequests(app: FastifyInstance, options: GuardOptions): void {
  const { credentials } = options;
  const connections = new DeviceConnections(credentials.signedOut);
  app.decorateRequest('deviceConnection');
  listRoutes(app);

  app.addHook('onRequest', async (request, reply) => {
    reply.headers(securityHeaders);
    // If an upgrade is rejected, its connection is closed.
    if (request.ws) reply.header('connection', 'close');
    const isProgram = hasToken(request, credentials);
    checkSource(request, options, isProgram);
    const access = accessOf(request);
    const link = access === 'page' ? takeLink(request, credentials) : undefined;
    if (link?.result === 'in') return letIn(request, reply, link.path, credentials);

    if (isProgram) {
      admit(app.server, request.raw.socket);
      return checkUpgrade(request);
    }
    const deviceId = deviceIn(request, credentials);
    if (deviceId !== undefined && hasKeyOf(deviceId, request, credentials)) {
      admit(app.server, request.raw.socket);
      enter(request, reply, deviceId, connections);
      return checkUpgrade(request);
    }
    // An upgrade always needs full credentials: the token, or a cookie with the cookie's key.
    if (!request.ws) {
      if (access === 'open') return;
      if (access === 'page' && isReading(request)) {
        if (deviceId !== undefined) return;
        if (takesHtml(request)) return sendPage(reply, 401, unauthorizedPage(link?.result));
      }
    }
    throw errors.UNAUTHORIZED.noToken();
  });
}

function checkSource(request: FastifyRequest, options: GuardOptions, isProgram: boolean): void {
  if (!isHostAllowed(request, options)) {
    throw errors.HOST_NOT_ALLOWED.unknown();
  }
  const refusal = originProblem(request, options.allowedOrigins, isProgram);
  if (refusal !== undefined) throw refusal;
}

/** Rejects an upgrade to a protocol that the route does not support. */
function checkUpgrade(request: FastifyRequest): void {
  if (!request.ws || takesUpgrade(request)) return;
  throw errors.INVALID_REQUEST.noUpgrade();
}

/** Ends the request, or its upgraded connection, when the request's browser is signed out. */
function enter(
  request: FastifyRequest,
  reply: FastifyReply,
  deviceId: string,
  connections: DeviceConnections,
): void {
  const { socket } = request.raw;
  const connection = connections.enter(deviceId, () => socket.destroy());
  request.deviceConnection = connection;
  // An upgraded connection has no response, so use the socket's `close`.
  (request.ws ? socket : reply.raw).once('close', () => connection.leave());
}

/**
 * Signs the browser in. The page stores the key for our origin only, and removes the secret of the link from the
 * browser's history.
 */
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

/** Removes the cookie from a browser. */
export function clearDevice(request: FastifyRequest, reply: FastifyReply): void {
  reply.clearCookie(cookieName(request), cookieOptions);
}

/**
 * Returns the id of the signed-in browser whose cookie is in the request. Programs on other ports of the host can add
 * cookies of the same name, so one valid cookie is enough.
 */
export function deviceIn(request: FastifyRequest, credentials: Credentials): string | undefined {
  const prefix = `${cookieName(request)}=`;
  for (const pair of request.headers.cookie?.split(';') ?? []) {
    const cookie = pair.trim();
    if (!cookie.startsWith(prefix)) continue;
    const deviceId = credentials.deviceOf(cookie.slice(prefix.length));
    if (deviceId !== undefined) return deviceId;
  }
  return undefined;
}

function hasKeyOf(deviceId: string, request: FastifyRequest, credentials: Credentials): boolean {
  const key = keyIn(request);
  return key !== undefined && credentials.isKeyOf(deviceId, key);
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

/**
 * Returns the name of the server's cookie. A browser shares cookies between ports, so two servers on one machine need
 * different cookie names.
 */
function cookieName(request: FastifyRequest): string {
  return `liminal_${localPort(request)}`;
}

function isReading({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/**
 * Uses the link in the request's address, if there is one. A link is used up only by a page that a person opens, and
 * not by the preview of a link in a chat (HEAD), a fetch of a page, or a browser's prefetch.
 */
function takeLink(request: FastifyRequest, credentials: Credentials) {
  const { path, secret } = splitLink(request.url);
  const { 'sec-fetch-dest': shownAs = 'document', 'sec-purpose': purpose } = request.headers;
  const isOpened = request.method === 'GET' && shownAs === 'document' && purpose === undefined;
  if (secret === undefined || !isOpened || request.ws) return undefined;
  return { path, result: credentials.takeLink(secret) };
}

/**
 * Returns the secret in a link (a code or the token), and the link's path without the secret. The path never leads to
 * another host.
 */
function splitLink(url: string): { path: string; secret: string | undefined } {
  const [pathname = '/', ...rest] = url.split('?');
  const path = `/${pathname.replace(/^[/\\]+/, '')}`;
  const search = new URLSearchParams(rest.join('?'));
  const secret = search.get('code') ?? search.get('token') ?? undefined;
  search.delete('code');
  search.delete('token');
  return { path: search.size === 0 ? path : `${path}?${search}`, secret };
}

/**
 * Headers of every response. Our pages load nothing from other origins, and pages of other origins can neither embed
 * nor read our pages.
 */
const securityHeaders = {
  'content-security-policy': [
    "default-src 'self'",
    "script-src 'self'",
    // Highlighted code and diagrams need style attributes.
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

/** Returns the error that rejects a request because of its origin; undefined if the request is allowed. */
function originProblem(
  request: FastifyRequest,
  allowedOrigins: readonly string[],
  hasBearer: boolean,
): RequestError | undefined {
  const { origin } = request.headers;
  if (origin !== undefined) {
    if (isSameOrigin(origin, request.headers.host) || allowedOrigins.includes(origin)) return;
    return errors.ORIGIN_NOT_ALLOWED.otherOrigin();
  }
  if (isForeignFetch(request)) return errors.ORIGIN_NOT_ALLOWED.otherSite();
  const unsafe = !safeMethods.includes(request.method) || request.ws;
  return unsafe && !hasBearer ? errors.ORIGIN_NOT_ALLOWED.missing() : undefined;
}

/**
 * Whether the page is one of ours. The Host header was checked before, so a page with the same host is one of our
 * pages.
 */
function isSameOrigin(origin: string, host: string | undefined): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}

/**
 * Whether the browser marks the request as cross-site. Browsers mark such requests in `Sec-Fetch-Site`, even if they
 * send no Origin. A link on another site that leads to one of our pages is harmless.
 */
function isForeignFetch({ headers, method }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== 'cross-site' && site !== 'same-site') return false;
  return method !== 'GET' || headers['sec-fetch-mode'] !== 'navigate';
}
