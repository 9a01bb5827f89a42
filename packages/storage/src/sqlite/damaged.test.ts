import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { emptyResponse, foldResponse, toResponse } from '@liminal/protocol';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { response, sessionRecord } from '../testing/records.ts';
import { done, eventsOf, start } from '../testing/runs.ts';
import { openSqliteStorage } from './open.ts';

let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'liminal-damaged-'));
});
afterEach(async () => rm(dataDir, { recursive: true }));

function damage(...statements: string[]): void {
  const database = new DatabaseSync(join(dataDir, 'liminal.db'));
  for (const statement of statements) database.exec(statement);
  database.close();
}

const said = { type: 'item_start', itemId: 'a', itemType: 'message' } as const;
const finished = {
  type: 'item_done',
  itemId: 'a',
  finalItem: { type: 'message', id: 'a', content: 'Hello.', origin: 'agent' },
} as const;

test('SAFE: damaged rows are set aside and reported, and all other rows can be read', async () => {
  const before = openSqliteStorage(dataDir);
  for (const id of ['whole', 'spoilt']) await before.store.saveSession(sessionRecord(id));
  await before.store.importResponses([
    response('r1', ['one', 'two']),
    response('r2', ['three', 'four']),
  ]);
  for (const id of ['l1', 'l2']) await before.log.append(id, eventsOf(id, [start, said, finished]));
  await before.close();
  damage(
    `UPDATE sessions SET record = '{"sessionId": "spo' WHERE session_id = 'spoilt'`,
    `UPDATE responses SET head = 'null' WHERE run_id = 'r1'`,
    `UPDATE items SET item = '' WHERE item_index = 1`,
    `UPDATE runs SET constants = '5' WHERE run_id = 'l1'`,
  );
  const storage = openSqliteStorage(dataDir);
  expect(storage.damageReports).toEqual([
    'The session spoilt cannot be read: its stored data is damaged.',
    'The turn l1, which had not ended, cannot be read: the log is damaged.',
  ]);
  const { store, log } = storage;
  expect((await store.listSessions()).map(({ sessionId }) => sessionId)).toEqual(['whole']);
  expect(await store.getSession('spoilt')).toBeUndefined();
  expect(await store.listRuns('session-1')).toMatchObject([
    { id: 'r1', status: 'error', error: { code: 'STORE_DAMAGED' } },
    { id: 'r2', status: 'complete' },
  ]);
  const { items } = await store.readItems('session-1', { limit: 10 });
  expect(items.map(({ item }) => item)).toMatchObject([
    { content: 'one' },
    { type: 'error', code: 'STORE_DAMAGED' },
    { content: 'three' },
    { type: 'error', code: 'STORE_DAMAGED' },
  ]);
  expect(await store.search({ text: 'three', limit: 5 })).toHaveLength(1);
  expect((await log.unsettled()).map(({ runId }) => runId)).toEqual(['l2']);
  await storage.close();
});

test.each([
  ['is gone', 'DELETE FROM items WHERE item_index = 1'],
  ['has another index', 'UPDATE items SET item_index = 9999 WHERE item_index = 1'],
  ['is of another run', 'UPDATE items SET response_key = response_key + 64 WHERE item_index = 1'],
])('SAFE: if the row of an item %s, history shows a damaged item', async (_how, statement) => {
  const before = openSqliteStorage(dataDir);
  await before.store.saveSession(sessionRecord('session-1'));
  await before.store.importResponses([response('r1', ['one', 'two', 'three'])]);
  await before.close();
  damage('PRAGMA foreign_keys = OFF', statement);
  const { store, close } = openSqliteStorage(dataDir);
  const shown = [
    { content: 'one' },
    { type: 'error', code: 'STORE_DAMAGED' },
    { content: 'three' },
  ];
  const { items } = await store.readItems('session-1', { limit: 10 });
  expect(items.map(({ item }) => item)).toMatchObject(shown);
  expect((await store.getResponse('r1'))?.outputItems).toMatchObject(shown);
  await close();
});

test('SAFE: a damaged count of items does not fill the memory', async () => {
  const before = openSqliteStorage(dataDir);
  await before.store.saveSession(sessionRecord('session-1'));
  await before.store.importResponses([response('r1', ['one'])]);
  await before.close();
  damage('UPDATE responses SET item_count = 1099511627777');
  const { store, close } = openSqliteStorage(dataDir);
  expect((await store.getResponse('r1'))?.outputItems).toHaveLength(1_001);
  const { items } = await store.readItems('session-1', { limit: 10 });
  expect(items.length).toBeLessThanOrEqual(1_001);
  await close();
});

test('SAFE: if some rows of a run are damaged, the remaining events are folded, and following the run still ends', async () => {
  const before = openSqliteStorage(dataDir);
  const whole = eventsOf('l', [start, said, finished, done]);
  await before.log.append('l', whole);
  await before.close();
  for (const [seq, left] of [
    [0, { status: 'complete', modelId: 'unknown', outputItems: [{ content: 'Hello.' }] }],
    [2, { status: 'complete', outputItems: [{ id: 'a' }, { code: 'LOG_DAMAGED' }] }],
    [3, { status: 'error', error: { code: 'LOG_DAMAGED' }, outputItems: [{ content: 'Hello.' }] }],
  ] as const) {
    damage(`UPDATE events SET payload = 'x' || payload WHERE seq = ${seq}`);
    const { log, close } = openSqliteStorage(dataDir);
    const read = await log.read('l');
    const followed = await Array.fromAsync(log.follow('l'));
    await close();
    damage(`UPDATE events SET payload = substr(payload, 2) WHERE seq = ${seq}`);
    expect(read.map((event) => event.seq)).toEqual([0, 1, 2, 3]);
    expect(followed).toEqual(read);
    expect(toResponse(read.reduce(foldResponse, emptyResponse()))).toMatchObject(left);
  }
});

test('SAFE: reading a damaged page of the file rejects with STORE_READ_FAILED, and data on other pages can be read', async () => {
  const before = openSqliteStorage(dataDir);
  const text = (name: string) =>
    Array.from({ length: 40 }, (_, at) => `${name} ${at} ${'x'.repeat(500)}`);
  for (const name of ['whole', 'spoilt']) {
    await before.store.saveSession(sessionRecord(name));
    await before.store.saveResponse(response(name, text(name), { sessionId: name }));
  }
  await before.log.append('l', eventsOf('l', [start, said, finished]));
  await before.close();
  const path = join(dataDir, 'liminal.db');
  const bytes = readFileSync(path);
  for (let at = bytes.indexOf('spoilt 7 '); at >= 0; at = bytes.indexOf('spoilt 7 ', at + 1)) {
    // Damage the page's header, which contains its type and the positions of its cells.
    bytes.fill(0xff, at - (at % 4_096), at - (at % 4_096) + 8);
  }
  writeFileSync(path, bytes);
  const { store, log, close } = openSqliteStorage(dataDir);
  const refused = { code: 'STORE_READ_FAILED', message: expect.stringContaining('damaged') };
  await expect(store.getResponse('spoilt')).rejects.toMatchObject(refused);
  await expect(store.readItems('spoilt', { limit: 40 })).rejects.toMatchObject(refused);
  expect(await store.getResponse('whole')).toMatchObject({ outputItems: { length: 40 } });
  expect((await store.readItems('whole', { limit: 40 })).items).toHaveLength(40);
  expect(await store.listSessions()).toHaveLength(2);
  expect(await log.read('l')).toHaveLength(3);
  await close();
});

test.each([
  ['empty', (path: string) => truncateSync(path)],
  ['missing', (path: string) => rmSync(path)],
])(
  'SAFE: if a write-ahead log exists, a database that is %s is not replaced by a new database, because SQLite would delete the log',
  (_what, spoil) => {
    const path = join(dataDir, 'liminal.db');
    writeFileSync(path, '');
    writeFileSync(`${path}-wal`, 'what was written last');
    spoil(path);
    const before = existsSync(path);
    expect(() => openSqliteStorage(dataDir)).toThrow(/missing or empty.*Restore/);
    expect(existsSync(path)).toBe(before);
    expect(readFileSync(`${path}-wal`, 'utf8')).toBe('what was written last');
  },
);

test('SAFE: the database of another program is refused and not changed', () => {
  const path = join(dataDir, 'liminal.db');
  damage('CREATE TABLE bookmarks (url TEXT)');
  const before = readFileSync(path);
  expect(() => openSqliteStorage(dataDir)).toThrow(/another program\. Move it away/);
  expect(readFileSync(path).equals(before)).toBe(true);
});
