import { randomBytes } from 'node:crypto';
import { openSync, closeSync, readFileSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { OpenedStorage } from '../storage.ts';
import { partSize } from '../store/blob-bytes.ts';
import { sessionRecord } from '../testing/records.ts';
import { BlobTable } from './blob-table.ts';
import { openSqliteStorage } from './open.ts';

const png = { mimeType: 'image/png' };
/** Bytes of five parts. */
const large = new Uint8Array(randomBytes(4 * partSize + 5));

let dataDir: string;
let storage: OpenedStorage;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'liminal-blobs-'));
  storage = openSqliteStorage(dataDir);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await storage.close();
  await rm(dataDir, { recursive: true });
});

const path = () => join(dataDir, 'liminal.db');

/** Queries the database as another program does. */
function ask(sql: string): unknown[] {
  const other = new DatabaseSync(path());
  try {
    return other.prepare(sql).all();
  } finally {
    other.close();
  }
}

/** For each call of these methods, the turn of the event loop in which the call runs. */
function turnsOf(...methods: ('part' | 'addPart' | 'drop')[]): number[] {
  const turns: number[] = [];
  let turn = 0;
  const count = (): void => {
    turn += 1;
    if (vi.isMockFunction(BlobTable.prototype.part)) setImmediate(count);
  };
  for (const method of methods) {
    const original: (...args: never[]) => unknown = BlobTable.prototype[method];
    vi.spyOn(BlobTable.prototype, method).mockImplementation(function (
      this: BlobTable,
      ...args: unknown[]
    ): undefined {
      turns.push(turn);
      return Reflect.apply(original, this, args) as undefined;
    });
  }
  count();
  return turns;
}

test('SAFE: other work runs between the parts of large bytes that are written, read and deleted', async () => {
  const { blobs, store } = storage;
  const turns = turnsOf('part', 'addPart', 'drop');
  const steps = () => new Set(turns.splice(0)).size;
  const { hash } = await blobs.put(large, png);
  expect(steps()).toBe(5);
  expect((await blobs.get(hash))?.size).toBe(large.length);
  expect(steps()).toBe(6);
  const others = ['a', 'b', 'c'].map((text) => new TextEncoder().encode(text));
  for (const bytes of others) await blobs.put(bytes, { ...png, sessionId: 'session-1' });
  await blobs.hold('session-1', [hash]);
  steps();
  await store.deleteSession('session-1');
  expect(steps()).toBe(4);
});

test('a half-written blob is invisible, and is deleted if its write never finishes', async () => {
  const { blobs } = storage;
  const { addPart } = BlobTable.prototype;
  const reached = Promise.withResolvers<void>();
  vi.spyOn(BlobTable.prototype, 'addPart').mockImplementation(function (
    this: BlobTable,
    key,
    part,
    bytes,
  ) {
    if (part === 3) reached.resolve();
    addPart.call(this, key, part, bytes);
  });
  const putting = blobs.put(large, png);
  await reached.promise;
  expect(ask('SELECT hash FROM blobs')).toEqual([{ hash: null }]);
  // The state after a server was killed.
  await storage.close();
  await expect(putting).rejects.toMatchObject({ code: 'STORE_WRITE_FAILED' });
  expect(ask('SELECT count(*) AS parts FROM blob_parts')).toEqual([{ parts: 4 }]);
  storage = openSqliteStorage(dataDir);
  expect(ask('SELECT * FROM blobs')).toEqual([]);
  expect(ask('SELECT * FROM blob_parts')).toEqual([]);
  const { hash } = await storage.blobs.put(large, png);
  expect(await storage.blobs.get(hash)).toMatchObject({ size: large.length });
});

test('if the same bytes are put many times at once, they are written once, and a put that fails does not fail the others', async () => {
  const { blobs } = storage;
  const { addPart } = BlobTable.prototype;
  let calls = 0;
  vi.spyOn(BlobTable.prototype, 'addPart').mockImplementation(function (
    this: BlobTable,
    key,
    part,
    bytes,
  ) {
    calls += 1;
    if (calls === 3) throw new Error('A failure.');
    addPart.call(this, key, part, bytes);
  });
  const puts = await Promise.allSettled(
    Array.from({ length: 20 }, async () => blobs.put(large, png)),
  );
  expect(puts.filter(({ status }) => status === 'rejected')).toHaveLength(1);
  expect(calls).toBe(3 + 5);
  expect(ask('SELECT count(*) AS parts FROM blob_parts')).toEqual([{ parts: 5 }]);
});

test('a read during a deletion returns the whole blob or nothing', async () => {
  const { blobs } = storage;
  for (const putAgain of [false, true]) {
    const { hash } = await blobs.put(large, png);
    const { part } = BlobTable.prototype;
    const reached = Promise.withResolvers<void>();
    vi.spyOn(BlobTable.prototype, 'part').mockImplementation(function (this: BlobTable, key, at) {
      if (at === 2) reached.resolve();
      return part.call(this, key, at);
    });
    const reading = blobs.get(hash);
    await reached.promise;
    await blobs.sweep(Date.now() + 60_000);
    if (putAgain) await blobs.put(large, png);
    vi.restoreAllMocks();
    const read = await reading;
    expect(Buffer.compare(read?.bytes ?? large, large)).toBe(0);
    expect(await blobs.sweep(Date.now() + 60_000)).toBe(putAgain ? 1 : 0);
  }
});

describe('SAFE: damaged bytes are refused, and never returned', () => {
  const refused = {
    code: 'STORE_READ_FAILED',
    message: expect.stringContaining('damaged'),
  };

  test.each([
    ['a changed byte', 'UPDATE blob_parts SET bytes = zeroblob(length(bytes)) WHERE part = 2'],
    ['a shorter part', `UPDATE blob_parts SET bytes = x'' WHERE part = 4`],
    [
      'an additional part',
      `INSERT INTO blob_parts SELECT blob_key, 5, bytes FROM blob_parts LIMIT 1`,
    ],
    ['a missing part in the middle', 'DELETE FROM blob_parts WHERE part = 1'],
    ['no parts', 'DELETE FROM blob_parts'],
  ])('%s', async (_, damage) => {
    const { hash } = await storage.blobs.put(large, png);
    ask(damage);
    for (const __ of ['first', 'again']) {
      await expect(storage.blobs.get(hash)).rejects.toMatchObject(refused);
    }
    const { hash: whole } = await storage.blobs.put(large.subarray(1), png);
    expect(await storage.blobs.get(whole)).toMatchObject({ size: large.length - 1 });
  });

  test('if the disk changed bytes, or lost pages', async () => {
    const { hash } = await storage.blobs.put(large, { ...png, sessionId: 'session-1' });
    await storage.store.saveSession(sessionRecord('session-1'));
    await storage.close();
    const file = readFileSync(path());
    // Search for only 64 bytes, because they lie in one page.
    const at = file.indexOf(large.subarray(700_000, 700_064));
    expect(at).toBeGreaterThan(0);
    overwrite(at + 20, Buffer.from('other bytes'));
    storage = openSqliteStorage(dataDir);
    await expect(storage.blobs.get(hash)).rejects.toMatchObject(refused);
    await storage.close();
    // Damage the page's link to the next page.
    overwrite(at - (at % 4096), Buffer.alloc(4, 0xff));
    storage = openSqliteStorage(dataDir);
    await expect(storage.blobs.get(hash)).rejects.toMatchObject({
      code: 'STORE_READ_FAILED',
      message: expect.stringContaining('restore it from a backup'),
    });
    expect(await storage.store.getSession('session-1')).toEqual(sessionRecord('session-1'));
  });

  function overwrite(at: number, bytes: Buffer): void {
    const file = openSync(path(), 'r+');
    writeSync(file, bytes, 0, bytes.length, at);
    closeSync(file);
  }
});

test('a database that was created before blobs existed keeps its data, and accepts blobs', async () => {
  await storage.store.saveSession(sessionRecord('session-1'));
  await storage.close();
  ask('DROP INDEX items_of_call');
  ask('ALTER TABLE items DROP COLUMN call_key');
  for (const table of [
    'blob_holders',
    'blob_parts',
    'blobs',
    'deleted_sessions',
    'grants',
    'kept_events',
  ])
    ask(`DROP TABLE ${table}`);
  ask('PRAGMA user_version = 2');
  storage = openSqliteStorage(dataDir);
  expect(await storage.store.getSession('session-1')).toEqual(sessionRecord('session-1'));
  const { hash } = await storage.blobs.put(large, { ...png, sessionId: 'session-1' });
  await storage.store.deleteSession('session-1');
  expect(await storage.blobs.get(hash)).toBeUndefined();
  expect(ask('PRAGMA user_version')).toEqual([{ user_version: 7 }]);
});
