import { readdir, readFile, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';

/** The kinds of files that are worth compressing. Images and fonts are already compressed. */
const kinds = new Set(['.css', '.html', '.js', '.json', '.svg', '.txt']);
/** Files with fewer bytes than this fit into one packet even if they are not compressed. */
const least = 1024;

/** The quality of brotli. Level 11 would take seven times as long, which delays the first start, and saves only 7 %. */
const brotliQuality = 9;

const packers = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  gz: (bytes: Buffer) => promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
};

/**
 * Writes a brotli and a gzip copy of each file of the build, so that the server need not compress a file per request.
 * Uses Node's compression, so no plugin is needed.
 */
export function compressAssets(): Plugin {
  let folder = '';
  return {
    name: 'compress-assets',
    apply: 'build',
    configResolved({ root, build }) {
      folder = join(root, build.outDir);
    },
    async closeBundle() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile() && kinds.has(extname(entry.name)));
      await Promise.all(files.map((entry) => compress(join(entry.parentPath, entry.name))));
    },
  };
}

async function compress(file: string): Promise<void> {
  const bytes = await readFile(file);
  if (bytes.length < least) return;
  for (const [ending, pack] of Object.entries(packers)) {
    await writeFile(`${file}.${ending}`, await pack(bytes));
  }
}
