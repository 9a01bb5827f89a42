import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionListStorage } from '@liminal/runtime';
import { readSmall } from './read-small.ts';

/**
 * Stores in the data folder what agents reported about their own stores, such as titles of conversations. Only the
 * owner of the folder can read the file.
 */
export function agentSessionsFile(dataDir: string): SessionListStorage {
  const path = join(dataDir, 'agent-sessions.json');
  const draft = `${path}.new`;
  return {
    async read() {
      try {
        return JSON.parse(readSmall(path)) as unknown;
      } catch (error) {
        return ifMissing(error);
      }
    },
    async write(content) {
      try {
        await writeFile(draft, `${JSON.stringify(content)}\n`, { mode: 0o600, flush: true });
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
