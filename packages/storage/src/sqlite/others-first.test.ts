import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { OpenedStorage } from '../storage.ts';
import { response } from '../testing/records.ts';
import { delta, eventsOf, start } from '../testing/runs.ts';
import { openSqliteStorage } from './open.ts';

const large = 'x'.repeat(1_000_000);
let dataDir: string;
let storage: OpenedStorage;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'liminal-large-'));
  storage = openSqliteStorage(dataDir);
});
afterEach(async () => {
  await storage.close();
  await rm(dataDir, { recursive: true });
});

/** How many turns others have until it is done. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  await work();
  clearImmediate(next);
  return turns;
}

test('SAFE: others have a turn between the steps of a large event and of large items, and of nothing small', async () => {
  const { log, store } = storage;
  const [first, ...events] = eventsOf('run', [start, delta(large)]);
  expect(await turnsDuring(() => log.append('run', [first!]))).toBe(0);
  expect(await turnsDuring(() => log.append('run', events))).toBeGreaterThanOrEqual(1);
  expect(await turnsDuring(() => store.saveResponse(response('a', ['x', 'y'])))).toBe(0);
  const saved = response('b', [large, 'x', large]);
  expect(await turnsDuring(() => store.saveResponse(saved))).toBeGreaterThanOrEqual(3);
  expect(await store.getResponse('b')).toStrictEqual(saved);
});
