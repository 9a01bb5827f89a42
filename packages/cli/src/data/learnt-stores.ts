import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LearntStores } from '@liminal/runtime';

/**
 * Keeps in the data folder what agents reported of their own stores: titles of conversations, readable by its owner
 * only.
 */
export function learntStores(dataDir: string): LearntStores {
  const path = join(dataDir, 'agent-sessions.json');
  const draft = `${path}.new`;
  return {
    async read() {
      const text = await readFile(path, 'utf8').catch(ifMissing);
      return text === undefined ? undefined : (JSON.parse(text) as unknown);
    },
    async write(learnt) {
      try {
        await writeFile(draft, `${JSON.stringify(learnt)}\n`, { mode: 0o600, flush: true });
        await rename(draft, path);
      } finally {
        await rm(draft, { force: true });
      }
    },
  };
}

function ifMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
