import { join } from 'node:path';
import { makeOnce } from './made-of.mjs';
import { ownNode } from './run-own-node.mjs';
import { run } from './run.mjs';

/** The sources from which the web app is built. */
export const webSources = [
  'package-lock.json',
  'packages/protocol/src',
  'packages/client/src',
  'packages/web',
];

/** @param {string} root */
export async function buildWeb(root) {
  await makeOnce(root, {
    sources: webSources,
    stamp: 'packages/web/dist/.sources',
    async make() {
      console.error('Building the web app (vite build) …');
      const vite = join(root, 'node_modules/vite/bin/vite.js');
      await run(ownNode(root), [vite, 'build', '--logLevel', 'error'], {
        cwd: join(root, 'packages/web'),
      });
    },
  });
}
