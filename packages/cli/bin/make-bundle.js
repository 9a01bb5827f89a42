// Makes the bundle of the present sources, unless it exists.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { enableCompileCache } from 'node:module';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { bundleOfSources, bundles, root } from './bundle.js';

/** How many bundles are kept: a running server still loads parts of its own. */
const maxBundles = 5;

/** Keeps a module's own path (`import.meta.url`, `__dirname`, `__filename`) as in the sources. */
const keepPaths = {
  name: 'places',
  transform(/** @type {string} */ code, /** @type {string} */ file) {
    const place = { __dirname: dirname(file), __filename: file };
    const isModule = /\b(?:const|let|var) __(?:dirname|filename)\b/.test(code);
    return code
      .replaceAll(/\bimport\.meta\.url\b/g, () => JSON.stringify(pathToFileURL(file).href))
      .replaceAll(/\b__(?:dirname|filename)\b/g, (name) =>
        isModule ? name : JSON.stringify(place[/** @type {keyof typeof place} */ (name)]),
      );
  },
};

async function make(/** @type {string} */ bundle) {
  mkdirSync(bundles, { recursive: true });
  const folder = mkdtempSync(`${bundles}/making-`);
  try {
    const made = await rolldown({
      cwd: root,
      input: {
        program: 'packages/cli/src/program.ts',
        acp: 'packages/cli/src/acp/main.ts',
        'warm-up': 'packages/cli/bin/warm-up.js',
      },
      platform: 'node',
      // The first library finds its program beside itself. The second may be missing, and modifies other libraries.
      external: ['@anthropic-ai/claude-agent-sdk', '@traceloop/node-server-sdk'],
      plugins: [keepPaths],
      logLevel: 'silent',
    });
    await made.write({
      dir: folder,
      entryFileNames: '[name].mjs',
      chunkFileNames: '[name]-[hash].mjs',
    });
    renameSync(folder, bundle);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function removeOld() {
  const made = readdirSync(bundles).map((name) => `${bundles}/${name}`);
  const age = (/** @type {string} */ folder) => -statSync(folder).mtimeMs;
  for (const old of made.toSorted((a, b) => age(a) - age(b)).slice(maxBundles)) {
    rmSync(old, { recursive: true, force: true });
  }
}

const bundle = bundleOfSources();
if (!existsSync(bundle)) {
  await make(bundle);
  removeOld();
  enableCompileCache(`${bundle}/cache`);
  await import(`${bundle}/warm-up.mjs`);
}
