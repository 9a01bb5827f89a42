/** The credentials that a request needs, set by its route. */
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';

/**
 * - `open`: the route needs no credentials.
 * - `page`: a GET with the cookie of a signed-in browser is enough. Only for answers that are the same for everyone,
 *   because programs on other ports of the host can read the cookie.
 * - `signed-in`: the route needs the token, or a browser's cookie with its key. This is the default.
 */
export type Access = 'open' | 'page' | 'signed-in';

/**
 * Values of the `Upgrade` header that at least one route accepts. All other values are ignored, as HTTP allows: such a
 * request is answered as if it had no `Upgrade` header.
 */
export const upgradeProtocols = ['websocket', 'acp-lines'] as const;
export type UpgradeProtocol = (typeof upgradeProtocols)[number];

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
    /** The protocols to which the route's connections can be upgraded; none by default. */
    upgrades?: readonly UpgradeProtocol[];
  }
  interface FastifyInstance {
    /** Every route of the server, for tests and documents. */
    guardedRoutes: GuardedRoute[];
  }
}

export interface GuardedRoute {
  method: string;
  url: string;
  access: Access;
  upgrades: readonly UpgradeProtocol[];
}

/** Returns the access that the request's route requires; `page` for unknown addresses. */
export function accessOf(request: FastifyRequest): Access {
  if (request.is404) return 'page';
  return request.routeOptions.config.access ?? 'signed-in';
}

/** Returns the protocol to which the request asks to upgrade its connection. */
export function upgradeOf({ headers }: Pick<FastifyRequest, 'headers'>) {
  const asked = headers.upgrade?.toLowerCase();
  return upgradeProtocols.find((protocol) => protocol === asked);
}

/** Whether the request's route accepts an upgrade to the protocol that the request asks for. */
export function takesUpgrade(request: FastifyRequest): boolean {
  const protocol = upgradeOf(request);
  if (protocol === undefined || request.is404 || request.method !== 'GET') return false;
  return request.routeOptions.config.upgrades?.includes(protocol) ?? false;
}

/** Collects every route that is added after this call. The routes are in `guardedRoutes`. */
export function listRoutes(app: FastifyInstance): void {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => void routes.push(route));
  app.decorate('guardedRoutes', {
    getter: () => routes.flatMap(describeRoute),
  });
}

function describeRoute({ method, url, config }: RouteOptions): GuardedRoute[] {
  const { access = 'signed-in', upgrades = [] } = config ?? {};
  return [method].flat().map((each) => ({ method: each, url, access, upgrades }));
}
