import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { response, sessionRecord } from '../testing/records.ts';
import { delta, done, eventsOf, start, wholeRun } from '../testing/runs.ts';
import { SqliteBlobStore } from './blob-store.ts';
import { Database } from './database.ts';
import { SqliteEventLog } from './event-log.ts';
import { SqliteResponseStore } from './response-store.ts';

let dataDir: string;
let database: Database;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'liminal-disk-'));
  database = new Database(dataDir);
});
afterEach(() => {
  database.close();
  rmSync(dataDir, { recursive: true });
});

describe('a full disk', () => {
  /** From now on, no new page can be added: SQLite raises the limit to the current number of pages. */
  const fill = () => database.prepare('PRAGMA max_page_count = 1').get();
  const free = () => database.prepare('PRAGMA max_page_count = 1000000').get();
  const big = 'x'.repeat(1_000_000);

  test('refuses an append as a whole, and the log accepts appends when there is space again', async () => {
    const log = new SqliteEventLog(database);
    const run = wholeRun('run-1', ['a', big, 'b']);
    await log.append('run-1', run.slice(0, 1));
    const followed = Array.fromAsync(log.follow('run-1'));
    fill();
    for (const _ of ['first', 'again']) {
      await expect(log.append('run-1', run.slice(1))).rejects.toMatchObject({
        code: 'LOG_WRITE_FAILED',
        message: expect.stringContaining('disk is full'),
      });
      await expect(log.append('run-2', wholeRun('run-2', [big]))).rejects.toMatchObject({
        code: 'LOG_WRITE_FAILED',
      });
    }
    expect(await log.read('run-1')).toStrictEqual(run.slice(0, 1));
    expect((await log.unsettled()).map(({ runId, lastSeq }) => [runId, lastSeq])).toEqual([
      ['run-1', 0],
    ]);
    free();
    await log.append('run-1', run.slice(1));
    expect(await followed).toStrictEqual(run);
    expect(await new SqliteEventLog(database).read('run-1')).toStrictEqual(run);
  });

  test('refuses a save as a whole, and the store accepts saves when there is space again', async () => {
    const store = new SqliteResponseStore(database, new SqliteBlobStore(database));
    const [before, after] = [
      response('run-1', ['a', 'b'], { lastSeq: 2 }),
      response('run-1', ['changed', big], { lastSeq: 4 }),
    ];
    await store.saveResponse(before);
    fill();
    const refused = {
      code: 'STORE_WRITE_FAILED',
      message: expect.stringContaining('disk is full'),
    };
    await expect(store.saveResponse(after)).rejects.toMatchObject(refused);
    await expect(
      store.importResponses([response('run-2', ['small']), response('run-3', [big])]),
    ).rejects.toMatchObject(refused);
    await expect(
      store.saveSession(sessionRecord('session-1', { title: big })),
    ).rejects.toMatchObject(refused);
    expect(await store.getResponse('run-1')).toStrictEqual(before);
    expect(await store.listRuns('session-1')).toHaveLength(1);
    expect(await store.getSession('session-1')).toBeUndefined();
    free();
    await store.saveResponse(after);
    expect(await store.getResponse('run-1')).toStrictEqual(after);
  });
});

describe('a disk that is full before or between the parts of a blob', () => {
  const bytes = Uint8Array.from({ length: 3_000_000 }, (_, at) => at * at);
  const allow = (pages: number) =>
    database.prepare(`PRAGMA max_page_count = ${pages}`).get()?.['max_page_count'];
  const rows = () =>
    ['blobs', 'blob_parts', 'blob_holders'].map(
      (table) => database.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.['count'],
    );

  test.each([0, 300, 700])(
    'refuses the whole blob, and accepts the blob later: %i pages',
    async (pages) => {
      const blobs = new SqliteBlobStore(database);
      const store = new SqliteResponseStore(database, blobs);
      const kept = await blobs.put(bytes.subarray(1_000_000), { mimeType: 'a', sessionId: 's' });
      const rowsBefore = rows();
      allow(Number(allow(1)) + pages);
      for (const sessionId of ['s', 't']) {
        await expect(blobs.put(bytes, { mimeType: 'b', sessionId })).rejects.toMatchObject({
          code: 'STORE_WRITE_FAILED',
          message: expect.stringContaining('disk is full'),
        });
      }
      expect(rows()).toEqual(rowsBefore);
      // Operations that need no new space succeed.
      expect(await blobs.get(kept.hash)).toMatchObject({ size: 2_000_000 });
      expect(await blobs.put(bytes.subarray(1_000_000), { mimeType: 'b' })).toEqual(kept);
      await store.deleteSession('s');
      expect(await blobs.sweep(Date.now() + 60_000)).toBe(1);
      allow(1_000_000);
      const { hash } = await blobs.put(bytes, { mimeType: 'c', sessionId: 't' });
      const stored = await blobs.get(hash);
      expect(stored).toMatchObject({ mimeType: 'c', size: bytes.length });
      expect(Buffer.compare(stored?.bytes ?? bytes.subarray(1), bytes)).toBe(0);
    },
  );
});

describe('space on the disk', () => {
  /** The number of bytes of all pages in use. */
  function bytesInUse(): number {
    const connection = new DatabaseSync(join(dataDir, 'liminal.db'), { readOnly: true });
    const row = connection.prepare('SELECT sum(pgsize) AS bytes FROM dbstat').get();
    connection.close();
    return Number(row?.['bytes']);
  }

  test.each([
    ['one long text', [2_000_000]],
    [
      'texts of all lengths',
      Array.from({ length: 667 }, (_, index) => 5 * ((index * 389) % 1_200)),
    ],
    ['short texts', Array<number>(4_000).fill(500)],
  ])('a projected run of 2 MB takes at most 1.5 times its text: %s', async (_, sizes) => {
    const [log, store] = [
      new SqliteEventLog(database),
      new SqliteResponseStore(database, new SqliteBlobStore(database)),
    ];
    const texts = sizes.map((size) => 'word '.repeat(size / 5));
    const empty = bytesInUse();
    const run = eventsOf('run-1', [start, ...texts.map((text) => delta(text)), done]);
    for (let at = 0; at < run.length; at += 100) {
      await log.append('run-1', run.slice(at, at + 100));
      await store.saveResponse(response('run-1', texts.slice(0, at), { lastSeq: at }));
    }
    expect(bytesInUse() - empty).toBeGreaterThan(2_000_000);
    await store.saveResponse(response('run-1', texts));
    await log.settle('run-1');
    expect(bytesInUse() - empty).toBeLessThan(1.5 * texts.join('').length + 8_192);
  });

  test('a run that was settled while followed is deleted when its last follower has left', async () => {
    const log = new SqliteEventLog(database);
    const empty = bytesInUse();
    await log.append('run-1', wholeRun('run-1', ['x'.repeat(1_000_000), 'y']));
    const followers = [log.follow('run-1'), log.follow('run-1')].map((followed) =>
      followed[Symbol.asyncIterator](),
    );
    for (const follower of followers) await follower.next();
    await log.settle('run-1');
    await followers[0]?.return?.();
    expect(bytesInUse() - empty).toBeGreaterThan(1_000_000);
    await followers[1]?.return?.();
    expect(bytesInUse() - empty).toBeLessThan(10_000);
  });

  test('a run that was settled while followed is deleted at the next start if the server dies first', async () => {
    const log = new SqliteEventLog(database);
    const empty = bytesInUse();
    await log.append('run-1', wholeRun('run-1', ['x'.repeat(1_000_000)]));
    await log.follow('run-1')[Symbol.asyncIterator]().next();
    await log.settle('run-1');
    expect(bytesInUse() - empty).toBeGreaterThan(1_000_000);
    const restarted = new SqliteEventLog(database);
    expect(bytesInUse() - empty).toBeLessThan(10_000);
    expect(await restarted.unsettled()).toEqual([]);
  });

  test('the words of an item are deleted together with the item', async () => {
    const store = new SqliteResponseStore(database, new SqliteBlobStore(database));
    const words = () =>
      Number(database.prepare('SELECT count(*) AS count FROM item_words').get()?.['count']);
    await store.importResponses([response('run-1', ['a', 'b', 'c']), response('run-2', ['d'])]);
    expect(words()).toBe(4);
    await store.saveResponse(response('run-1', ['a'], { lastSeq: 9 }));
    expect(words()).toBe(2);
    await store.deleteSession('session-1');
    expect(words()).toBe(0);
  });

  test('a growing snapshot writes only the changed items', async () => {
    const store = new SqliteResponseStore(database, new SqliteBlobStore(database));
    const changes = () =>
      Number(database.prepare('SELECT total_changes() AS count').get()?.['count']);
    const texts = Array.from({ length: 500 }, (_, index) => `text ${index}`);
    await store.saveResponse(response('run-1', texts, { status: 'in_progress' }));
    const before = changes();
    const grown = response('run-1', [...texts.slice(0, -1), 'last, changed', 'new'], {
      lastSeq: 999,
      status: 'in_progress',
    });
    await store.saveResponse(grown);
    // Three rows: the head, the changed item and the new item.
    expect(changes() - before).toBe(3);
    expect(await store.getResponse('run-1')).toStrictEqual(grown);
  });
});
