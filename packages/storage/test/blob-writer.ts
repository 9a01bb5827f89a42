/**
 * Stores blobs in a folder's SQLite database, by commands on its input: `put BYTES`, `flood`, `sweep`. Prints the
 * result of each command.
 */
import { randomBytes } from 'node:crypto';
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { LiminalError } from '@liminal/protocol';
import { openSqliteStorage } from '../src/sqlite/index.ts';

const { blobs } = await openSqliteStorage(process.argv[2] ?? '');
const partsMax = 4 * 512 * 1024;

/** Prints a line in one synchronous write: completely, and before the next step, or not at all. */
function print(...words: (string | number)[]): void {
  writeSync(1, `${words.join(' ')}\n`);
}

async function put(size: number, sessionId?: string): Promise<void> {
  const bytes = randomBytes(size);
  const options = { mimeType: 'image/png', ...(sessionId !== undefined && { sessionId }) };
  const { hash } = await blobs.put(bytes, options);
  print('stored', hash, size, sessionId ?? 'upload');
}

/** Puts four blobs at a time, of all sizes, and half of them for a session, until the process is killed. */
async function flood(): Promise<never> {
  const writers = Array.from({ length: 4 }, async (_, which) => {
    for (let at = which; ; at++) {
      // At least 16 bytes, so that the same random bytes are never put twice, once with and once without a session.
      const size = 16 + Math.floor(partsMax * Math.random() ** 2);
      await (at % 2 === 0 ? put(size, `session-${which}`) : put(size));
    }
  });
  return Promise.race(writers);
}

print('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const [what, size] = line.split(' ');
  try {
    if (what === 'put') await put(Number(size));
    if (what === 'sweep') print('swept', await blobs.sweep(Date.now() + 60_000));
    if (what === 'flood') await flood();
  } catch (error) {
    if (!(error instanceof LiminalError)) throw error;
    print(error.code, error.message);
  }
}
