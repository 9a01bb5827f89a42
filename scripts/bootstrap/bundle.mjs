import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { bundleOfSources } from '../../packages/cli/bin/bundle.js';
import { ownNode } from './run-own-node.mjs';
import { run } from './run.mjs';

/**
 * Builds the server's bundle if the bundle does not exist. A bundled server starts in half the time, and does not need
 * the TypeScript compiler, which would stay in the server's memory.
 * @param {string} root
 */
export async function bundleServer(root) {
  if (existsSync(bundleOfSources())) return;
  try {
    await run(ownNode(root), [join(root, 'packages/cli/bin/make-bundle.js')], { stdio: 'ignore' });
  } catch {
    // Ignore the error: without a bundle the server only starts more slowly. If the sources have an error, the server
    // reports it better than the bundler.
  }
}
