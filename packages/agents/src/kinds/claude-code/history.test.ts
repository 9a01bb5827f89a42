import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { listStored } from './history.ts';

const sessions = 50;
/** A text that is longer than the part of a file that is read. */
const file = 100 * 1024;

test('a list of stored sessions keeps their titles in memory, but not the surrounding file texts', async () => {
  const root = await mkdtemp(join(tmpdir(), 'liminal-stored-'));
  vi.stubEnv('CLAUDE_CONFIG_DIR', root);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await rm(root, { recursive: true });
  });
  const folder = join(root, 'projects', '-project-of-somebody');
  await mkdir(folder, { recursive: true });
  for (let count = 0; count < sessions; count += 1) await storeSession(folder);
  await listStored().then(() => undefined);

  const before = usedBytes();
  const stored = await listStored();
  expect(usedBytes() - before).toBeLessThan((sessions * file) / 8);
  expect(stored).toHaveLength(sessions);
  expect(stored[0]).toMatchObject({ projectDir: '/project/of/somebody', title: 'Read the loader' });
});

async function storeSession(folder: string): Promise<void> {
  const sessionId = randomUUID();
  const message = { role: 'user', content: 'Read the loader' };
  const entry = { sessionId, cwd: '/project/of/somebody', timestamp: '2026-01-01T00:00:00.000Z' };
  const lines = [
    { type: 'queue-operation', operation: 'enqueue', sessionId },
    { type: 'user', uuid: randomUUID(), parentUuid: null, message, ...entry },
    { type: 'attachment', uuid: randomUUID(), text: 'x'.repeat(file), ...entry },
  ];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  await writeFile(join(folder, `${sessionId}.jsonl`), text);
}

function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}
