import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atLength } from '@liminal/testkit/at-length';
import { expect, test } from 'vitest';
import { Connection } from '../../bench/parts/connection.ts';
import { Measured } from '../../bench/parts/process.ts';

const script = fileURLToPath(new URL('../../bench/parts/source-server.ts', import.meta.url));
const sessions = atLength ? 5 : 2;
/** Deltas of one long answer. Each delta has 16 characters. */
const deltas = 200_000;
const answerMib = (deltas * 16) / 2 ** 20;

test('the messages of idle sessions are not kept in memory, because history contains them', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'liminal-idle-memory-'));
  const server = await Measured.start(['--expose-gc', script, dataDir, '33']);
  try {
    const connection = new Connection(`http://127.0.0.1:${server.firstLine}`);
    await playOne(connection, dataDir);
    const first = await usedAtRest(server);
    for (let count = 1; count < sessions; count += 1) await playOne(connection, dataDir);
    // A busy server reports the end of a turn before it has stored the answer and released the answer's memory.
    await expect
      .poll(async () => (await server.usedMiB()) - first, { timeout: 20_000 })
      .toBeLessThan(answerMib);
  } finally {
    await server.end();
    await rm(dataDir, { recursive: true });
  }
});

/** Returns the memory in use, in MiB, as soon as this value no longer falls. */
async function usedAtRest(server: Measured): Promise<number> {
  for (let before = Infinity; ;) {
    const used = await server.usedMiB();
    if (before - used < 0.1) return used;
    before = used;
  }
}

/** Plays a session with one turn. The session and its agent stay open, but no reader is subscribed. */
async function playOne(connection: Connection, dataDir: string): Promise<void> {
  const sessionId = await connection.create('source', dataDir);
  const ended = Promise.withResolvers<void>();
  const socket = await connection.follow(sessionId, (message) => {
    if (message.type !== 'session:turn') return;
    if (message.payload.type === 'turn_complete') ended.resolve();
  });
  await connection.post(`${sessionId}/send`, { message: `${deltas} 0` });
  await ended.promise;
  socket.close();
}
