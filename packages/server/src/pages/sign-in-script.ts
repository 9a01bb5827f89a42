import type { FastifyInstance } from 'fastify';

export const signInScriptPath = '/sign-in.js';

/**
 * The script of the sign-in pages. On the page for a browser that is not signed in, the script stores the requested
 * address. On the page that signs the browser in, the script stores the key and replaces the link in the browser's
 * history. The replacement is the link's path. If the link leads to the start page, the replacement is the address that
 * was requested in the last hour.
 */
const script = `const { key, path } = document.currentScript.dataset;
if (key === undefined) {
  const address = location.pathname + location.hash;
  if (address !== '/') localStorage.setItem('liminal:wanted', Date.now() + ' ' + address);
} else {
  localStorage.setItem('liminal:key', key);
  const [at, wanted = ''] = (localStorage.getItem('liminal:wanted') ?? '').split(' ');
  localStorage.removeItem('liminal:wanted');
  const isFresh = Date.now() - Number(at) < 3_600_000;
  location.replace(path === '/' && isFresh && wanted.startsWith('/session/') ? wanted : path);
}
`;

/** Serves the script of the sign-in page. The key is in the page; the script contains no secret. */
export function signInScriptRoute(app: FastifyInstance): void {
  app.get(signInScriptPath, { config: { access: 'open' } }, async (_, reply) =>
    reply.type('text/javascript').send(script),
  );
}
