import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownNode } from './run-own-node.mjs';
import { run } from './run.mjs';

/** What the bundle is made of. */
const sources = [
  'package-lock.json',
  'packages/protocol/src',
  'packages/client/src',
  'packages/web',
];
const stampFile = 'packages/web/dist/.sources';

/**
 * Builds the web app unless the bundle was made of the sources as they are.
 * @param {string} root
 */
export async function buildWeb(root) {
  const hash = hashSources(root);
  if (hash === readStamp(root)) return;
  console.log('Building the web app (vite build) …');
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  await run(ownNode(root), [vite, 'build', '--logLevel', 'error'], {
    cwd: join(root, 'packages/web'),
  });
  writeFileSync(join(root, stampFile), hash);
}

/**
 * One hash over the names and contents of all sources; tests and what is built do not count.
 * @param {string} root
 */
export function hashSources(root) {
  const hash = createHash('sha256');
  for (const file of sources.flatMap((path) => listFiles(root, path))) {
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(root, file)))
      .update('\0');
  }
  return hash.digest('hex');
}

/**
 * @param {string} root
 * @param {string} path
 * @returns {string[]}
 */
function listFiles(root, path) {
  if (/(\/(node_modules|dist|test)|\.test\.tsx?)$/.test(path)) return [];
  if (/\.\w+$/.test(path)) return [path];
  const names = readdirSync(join(root, path)).toSorted();
  return names.flatMap((name) => listFiles(root, `${path}/${name}`));
}

/** @param {string} root */
function readStamp(root) {
  try {
    return readFileSync(join(root, stampFile), 'utf8');
  } catch {
    return undefined;
  }
}
