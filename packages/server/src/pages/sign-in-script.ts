import type { FastifyInstance } from 'fastify';

export const signInScriptPath = '/sign-in.js';

/** Stores the key, and replaces the link in the browser's history. */
const script = `const { key, path } = document.currentScript.dataset;
localStorage.setItem('liminal:key', key);
location.replace(path);
`;

/** The script of the page that signs a browser in; the page has the key, and the script nothing secret. */
export function signInScriptRoute(app: FastifyInstance): void {
  app.get(signInScriptPath, { config: { access: 'open' } }, async (_, reply) =>
    reply.type('text/javascript').send(script),
  );
}
