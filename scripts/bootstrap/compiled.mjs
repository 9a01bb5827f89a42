import { join } from 'node:path';
import { makeOnce } from './made-of.mjs';
import { ownNode } from './run-own-node.mjs';
import { run } from './run.mjs';

/** What the server is made of. */
const sources = [
  'package-lock.json',
  ...['protocol', 'storage', 'agents', 'runtime', 'server', 'cli'].map(
    (name) => `packages/${name}/src`,
  ),
];

/**
 * Fills the compile cache: a server that finds its code there has no need of the TypeScript compiler, which would
 * stay in its memory for as long as it runs.
 * @param {string} root
 */
export async function compileServer(root) {
  const compile = join(root, 'packages/cli/bin/compile.js');
  const make = async () => run(ownNode(root), [compile], { stdio: 'ignore' });
  try {
    await makeOnce(root, { sources, stamp: 'node_modules/.cache/liminal/.sources', make });
  } catch {
    // Without it the server is only larger; what keeps it from starting, it says better itself.
  }
}
