import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';

/** @typedef {'services' | 'browser' | 'web' | 'bundle'} Need */

/** All needs: Redis and PostgreSQL; Chromium; the built web app; the server's bundle. */
const all = /** @type {const} */ (['services', 'browser', 'web', 'bundle']);

/** Patterns for the source of a test or its helpers. If a pattern matches, the test has these needs. */
const signs = /** @type {[RegExp, Need[]][]} */ ([
  [/LIMINAL_(REDIS_URL|DATABASE_URL|PYTHON)|(start|test)(Redis|Postgres)/, ['services']],
  [/CHROMIUM_(SHELL_)?PATH/, ['browser', 'web']],
  [/web\/dist|'dist'/, ['web']],
  [/bin\/liminal|\.\/liminal\b|bundleOfSources/, ['bundle', 'web']],
]);

/**
 * Returns what must be prepared for some tests. Unit tests (`packages/NAME/src`, `scripts`, `bench`) need nothing. The
 * needs of other tests follow from words in their source and in the helpers that they import.
 * @param {string} root - The repository.
 * @param {readonly string[]} only - Parts of the paths of test files, in the form that Vitest accepts; empty for all
 * tests.
 * @returns {Set<Need>}
 */
export function needsOf(root, only) {
  const files = testFiles(root).filter((file) =>
    only.some((part) => file.includes(pathIn(root, part))),
  );
  // Prepare everything for a path without tests: Vitest then reports that path.
  if (only.length === 0 || files.length === 0) return new Set(all);
  const texts = withHelpers(
    root,
    files.filter((file) => !isUnit(file)),
  );
  return new Set(
    signs.flatMap(([sign, needs]) => (texts.some((text) => sign.test(text)) ? needs : [])),
  );
}

/** @param {string} file */
const isUnit = (file) => /^(packages\/[^/]+\/src|scripts|bench)\//.test(file);

/**
 * @param {string} root
 * @param {string} part
 */
function pathIn(root, part) {
  return (isAbsolute(part) ? relative(root, part) : part).replace(/^\.\//, '');
}

/** @param {string} root */
function testFiles(root) {
  const packages = readdirSync(join(root, 'packages')).flatMap((name) => [
    `packages/${name}/src`,
    `packages/${name}/test`,
  ]);
  return [...packages, 'test', 'scripts', 'bench']
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true }).map((file) =>
        join(folder, String(file)),
      ),
    )
    .filter((file) => /\.test\.tsx?$/.test(file));
}

/**
 * Returns the texts of files and of all files that they import by a relative path.
 * @param {string} root
 * @param {string[]} files
 */
function withHelpers(root, files) {
  const queue = files.map((file) => join(root, file));
  const seen = new Set(queue);
  const texts = [];
  for (const file of queue) {
    const text = readFileSync(file, 'utf8');
    texts.push(text);
    for (const [, path = ''] of text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) {
      const imported = join(dirname(file), path);
      if (seen.has(imported) || !existsSync(imported)) continue;
      seen.add(imported);
      queue.push(imported);
    }
  }
  return texts;
}
