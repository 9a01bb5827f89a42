import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Runs `make`, unless it has already run for the current sources.
 * @param {string} root
 * @param {{ sources: string[], stamp: string, make: () => Promise<void> }} options `stamp` is the file with the hash of
 * the sources; paths are relative to the repository.
 */
export async function makeOnce(root, { sources, stamp, make }) {
  const hash = hashSources(root, sources);
  const file = join(root, stamp);
  if (hash === read(file)) return;
  await make();
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, hash);
}

/**
 * Returns one hash over the names and contents of all source files. Tests and built files are left out.
 * @param {string} root
 * @param {string[]} sources
 */
export function hashSources(root, sources) {
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

/** @param {string} file */
function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
