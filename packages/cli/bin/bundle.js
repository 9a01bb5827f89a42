// The server and its commands as a few files of JavaScript: finding, reading and linking a thousand modules took more
// than half of each start. `make-bundle.js` makes a bundle before the first start. A bundle never changes, so a running
// server keeps its own while the sources change.
import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../', import.meta.url));
/** The folder of all bundles. */
export const bundles = `${root}node_modules/.cache/liminal`;

const packages = ['protocol', 'storage', 'agents', 'runtime', 'server', 'client', 'cli'];

/** The folder of the bundle of the present sources, whether the bundle exists or not. */
export function bundleOfSources() {
  const hash = createHash('sha256');
  // npm writes this file at the end of each installation.
  addFile(hash, 'node_modules/.package-lock.json');
  for (const name of packages) addFolder(hash, `packages/${name}/src`);
  addFolder(hash, 'packages/cli/bin');
  return `${bundles}/${hash.digest('hex')}`;
}

/**
 * @param {import('node:crypto').Hash} hash
 * @param {string} path
 */
function addFolder(hash, path) {
  for (const entry of readdirSync(root + path, { withFileTypes: true })) {
    const { name } = entry;
    if (!entry.isDirectory()) addFile(hash, `${path}/${name}`);
    else if (name !== 'testing') addFolder(hash, `${path}/${name}`);
  }
}

/**
 * Adds the file's name, size and time: reading the file would take longer than the bundle saves.
 * @param {import('node:crypto').Hash} hash
 * @param {string} path
 */
function addFile(hash, path) {
  if (path.endsWith('.test.ts')) return;
  const stat = statSync(root + path, { throwIfNoEntry: false });
  hash.update(`${path}\0${stat?.size}\0${stat?.mtimeMs}\0`);
}
