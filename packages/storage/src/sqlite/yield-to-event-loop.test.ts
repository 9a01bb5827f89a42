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

/** How often other work runs before `work` ends. */
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

test('SAFE: other work runs between the steps of a large event and of large items, but not between the steps of small ones', async () => {
  const { log, store } = storage;
  const [first, ...events] = eventsOf('run', [start, delta(large)]);
  expect(await turnsDuring(() => log.append('run', [first!]))).toBe(0);
  expect(await turnsDuring(() => log.append('run', events))).toBeGreaterThanOrEqual(1);
  expect(await turnsDuring(() => store.saveResponse(response('a', ['x', 'y'])))).toBe(0);
  const saved = response('b', [large, 'x', large]);
  expect(await turnsDuring(() => store.saveResponse(saved))).toBeGreaterThanOrEqual(3);
  expect(await store.getResponse('b')).toStrictEqual(saved);
});

test('SAFE: a run of many items is saved in parts, and at the end the whole run is stored, whatever was stored before', async () => {
  const { store } = storage;
  const texts = Array.from({ length: 9_000 }, (_, n) => `item number${n}`);
  const saved = response('a', texts, { lastSeq: 3 });
  expect(await turnsDuring(() => store.saveResponse(saved))).toBeGreaterThanOrEqual(4);
  expect(await store.getResponse('a')).toStrictEqual(saved);
  expect(await store.search({ text: 'number8999', limit: 5 })).toHaveLength(1);

  const shorter = response('a', texts.slice(0, 3_000), { lastSeq: 4 });
  await store.saveResponse(shorter);
  await store.saveResponse(saved);
  expect(await store.getResponse('a')).toStrictEqual(shorter);
  expect(await store.search({ text: 'number2999', limit: 5 })).toHaveLength(1);
  expect(await store.search({ text: 'number8999', limit: 5 })).toHaveLength(0);
});

test('SAFE: a run that was saved only in part is completed by saving the same snapshot again', async () => {
  const { store } = storage;
  const texts = Array.from({ length: 5_000 }, (_, n) => `item number${n}`);
  const saved = response('a', texts);
  const saving = store.saveResponse(saved);
  await new Promise(setImmediate);
  // Only the run's beginning is stored.
  const part = await store.getResponse('a');
  const { outputItems: stored = [] } = part ?? {};
  expect(stored.length).toBeLessThan(5_000);
  expect(stored).toEqual(saved.outputItems.slice(0, stored.length));
  await store.saveResponse(saved);
  await saving;
  expect(await store.getResponse('a')).toStrictEqual(saved);
});
