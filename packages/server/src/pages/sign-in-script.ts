import type { FastifyInstance } from 'fastify';

export const signInScriptPath = '/sign-in.js';

/**
 * On the page of a browser that is not signed in: stores the address that the person wanted. On the page that signs the
 * browser in: stores the key, and replaces the link in the browser's history by the link's path, or by the wanted address
 * of the last hour if the link leads to the start page.
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

/** The script of the page that signs a browser in; the page has the key, and the script nothing secret. */
export function signInScriptRoute(app: FastifyInstance): void {
  app.get(signInScriptPath, { config: { access: 'open' } }, async (_, reply) =>
    reply.type('text/javascript').send(script),
  );
}
