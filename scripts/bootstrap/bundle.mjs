import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { bundleOfSources } from '../../packages/cli/bin/bundle.js';
import { ownNode } from './run-own-node.mjs';
import { run } from './run.mjs';

/**
 * Makes the server's bundle unless it exists. A bundled server starts in half the time, and does not need the
 * TypeScript compiler, which would stay in the server's memory.
 * @param {string} root
 */
export async function bundleServer(root) {
  if (existsSync(bundleOfSources())) return;
  try {
    await run(ownNode(root), [join(root, 'packages/cli/bin/make-bundle.js')], { stdio: 'ignore' });
  } catch {
    // Ignore the error: without a bundle the server is only slower, and if the sources are broken, the server reports
    // the error better.
  }
}
