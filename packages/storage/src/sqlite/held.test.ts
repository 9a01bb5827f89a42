import { copyFile, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { StorageError } from '../errors.ts';
import type { OpenedStorage } from '../storage.ts';
import { response, sessionRecord } from '../testing/records.ts';
import { delta, done, eventsOf, start } from '../testing/runs.ts';
import { openSqliteStorage } from './open.ts';

let dataDir: string;
let storage: OpenedStorage;
let other: DatabaseSync;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'liminal-held-'));
  storage = openSqliteStorage(dataDir);
  other = new DatabaseSync(join(dataDir, 'liminal.db'));
});
afterEach(async () => {
  other.close();
  await storage.close();
  await rm(dataDir, { recursive: true });
});

test('SAFE: while another program has locked the database, writes wait in order, and other work does not wait', async () => {
  const { log, store } = storage;
  await log.append('run', eventsOf('run', [start]));
  await store.saveSession(sessionRecord('s', { title: 'before' }));
  other.exec('BEGIN IMMEDIATE');
  const stalls = monitorEventLoopDelay({ resolution: 5 });
  stalls.enable();
  const events = eventsOf('run', [start, delta('a'), delta('b'), done]);
  const writes = [
    log.append('run', events.slice(1, 3)),
    store.saveSession(sessionRecord('s', { title: 'first' })),
    store.saveResponse(response('r', ['x'])),
    store.saveSession(sessionRecord('s', { title: 'last' })),
    log.append('run', events.slice(3)),
  ];
  await delay(500);
  // Reading is possible during the wait.
  expect((await log.read('run')).length).toBe(1);
  expect((await store.getSession('s'))?.title).toBe('before');
  other.exec('COMMIT');
  await Promise.all(writes);
  stalls.disable();
  expect(stalls.max / 1e6).toBeLessThan(200);
  expect(await log.read('run')).toEqual(events);
  expect((await store.getSession('s'))?.title).toBe('last');
  expect((await store.getResponse('r'))?.id).toBe('r');
  await log.settle('run');
  expect(await log.read('run')).toEqual([]);
});

test('SAFE: if another program locks the database for too long, a write is refused with advice, and later writes are accepted', async () => {
  const { store } = storage;
  other.exec('BEGIN IMMEDIATE');
  await expect(store.saveSession(sessionRecord('s'))).rejects.toMatchObject({
    code: 'STORE_WRITE_FAILED',
    message: expect.stringContaining('another program holds it'),
  });
  other.exec('ROLLBACK');
  await store.saveSession(sessionRecord('s'));
}, 15_000);

test('SAFE: if another program has locked the database, each of many writes is refused after as much time as the first write', async () => {
  const { store } = storage;
  other.exec('BEGIN IMMEDIATE');
  const began = performance.now();
  const writes = Array.from({ length: 8 }, async (_, at) => {
    const refusal = await store.saveSession(sessionRecord(`s${at}`)).catch(String);
    return { refusal, after: performance.now() - began };
  });
  const [first, ...others] = await Promise.all(writes);
  other.exec('ROLLBACK');
  for (const { refusal, after } of others) {
    expect(refusal).toContain('another program holds it');
    expect(after / first!.after).toBeLessThan(3);
  }
}, 60_000);

test.each([
  ['liminal.db', 'deleted', async () => undefined],
  ['liminal.db', 'replaced', async (path: string) => copyFile(`${path}.away`, path)],
  ['liminal.db-wal', 'deleted', async () => undefined],
])(
  'SAFE: a database whose %s is %s refuses writes that would be lost, and accepts writes again once the file is back',
  async (name, _, replace) => {
    const { log, store } = storage;
    const path = join(dataDir, name);
    const events = eventsOf('run', [start, delta('a')]);
    await log.append('run', events.slice(0, 1));
    await store.saveSession(sessionRecord('s'));
    await rename(path, `${path}.away`);
    await replace(path);
    const save = async () => store.saveSession(sessionRecord('s', { title: 'later' }));
    // Writes check once a second whether the file was replaced.
    await expect
      .poll(async () => save().catch(({ code }: StorageError) => code), { timeout: 60_000 })
      .toBe('STORE_WRITE_FAILED');
    await expect(save()).rejects.toThrow('another program has deleted or replaced it');
    await expect(log.append('run', events.slice(1))).rejects.toMatchObject({
      code: 'LOG_WRITE_FAILED',
    });
    expect(await log.read('run')).toEqual(events.slice(0, 1));
    await rename(`${path}.away`, path);
    await save();
    await log.append('run', events.slice(1));
    expect(await log.read('run')).toEqual(events);
  },
);
