import { readFile, rename, writeFile } from 'node:fs/promises';
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
      await writeFile(draft, `${JSON.stringify(learnt)}\n`, { mode: 0o600 });
      await rename(draft, path);
    },
  };
}

function ifMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
