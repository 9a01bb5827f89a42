import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { OutputItem } from '@liminal/protocol';
import { openSqliteStorage } from './index.ts';
import { message, response, sessionRecord } from '../testing/records.ts';
import { delta, eventsOf, start } from '../testing/runs.ts';

describe('the data folder', () => {
  let parent: string;
  let dataDir: string;
  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'liminal-data-'));
    dataDir = join(parent, 'deep', 'data');
  });
  afterEach(() => rmSync(parent, { recursive: true }));

  const modeOf = (path: string) => statSync(path).mode & 0o777;

  test('is created if it is missing, and everything in it is private', async () => {
    const umask = process.umask(0);
    try {
      const storage = await openSqliteStorage(dataDir);
      await storage.log.append('run-1', eventsOf('run-1', [start]));
      const names = readdirSync(dataDir).toSorted();
      expect(names).toEqual(['liminal.db', 'liminal.db-shm', 'liminal.db-wal', 'liminal.lock']);
      expect(modeOf(dataDir)).toBe(0o700);
      for (const name of names) expect([name, modeOf(join(dataDir, name))]).toEqual([name, 0o600]);
      await storage.close();
    } finally {
      process.umask(umask);
    }
  });

  test('is made private if it is empty, and is not changed if it contains other files', async () => {
    const shared = join(parent, 'shared');
    for (const folder of [dataDir, shared]) {
      mkdirSync(folder, { recursive: true });
      chmodSync(folder, 0o755);
    }
    writeFileSync(join(shared, 'theirs'), '');
    for (const folder of [dataDir, shared]) await (await openSqliteStorage(folder)).close();
    expect(modeOf(dataDir)).toBe(0o700);
    expect(modeOf(shared)).toBe(0o755);
    expect(modeOf(join(shared, 'liminal.db'))).toBe(0o600);
  });

  test('can be used by only one server at a time, and is free again when that server closes it', async () => {
    const first = await openSqliteStorage(dataDir);
    const inUse = { code: 'DATA_DIR_IN_USE', message: expect.stringContaining(dataDir) };
    await expect(openSqliteStorage(dataDir)).rejects.toMatchObject(inUse);
    // The refused attempt must not have affected the lock.
    await expect(openSqliteStorage(dataDir)).rejects.toMatchObject(inUse);
    await first.store.saveSession(sessionRecord('session-1'));
    await first.close();
    await first.close();
    const second = await openSqliteStorage(dataDir);
    expect(await second.store.getSession('session-1')).toEqual(sessionRecord('session-1'));
    await second.close();
  });

  test('is refused with a sentence, and not changed, if a newer version has written it', async () => {
    await (await openSqliteStorage(dataDir)).close();
    const path = join(dataDir, 'liminal.db');
    const newer = new DatabaseSync(path);
    const current = newer.prepare('PRAGMA user_version').get()?.['user_version'];
    newer.exec('PRAGMA user_version = 9999');
    newer.close();
    await expect(openSqliteStorage(dataDir)).rejects.toMatchObject({
      code: 'DATA_TOO_NEW',
      message: expect.stringMatching(/newer Liminal.*9999.*Update/),
    });
    const again = new DatabaseSync(path);
    expect(again.prepare('PRAGMA user_version').get()).toEqual({ user_version: 9999 });
    again.exec(`PRAGMA user_version = ${String(current)}`);
    again.close();
    await (await openSqliteStorage(dataDir)).close();
  });

  test('can be searched even if it was written before search existed', async () => {
    const first = await openSqliteStorage(dataDir);
    await first.store.importResponses([response('run-1', ['early words'])]);
    await first.close();
    const old = new DatabaseSync(join(dataDir, 'liminal.db'));
    const newer = [
      'item_words',
      'blob_holders',
      'blob_parts',
      'blobs',
      'deleted_sessions',
      'grants',
      'kept_events',
    ];
    for (const table of newer) old.exec(`DROP TABLE ${table}`);
    old.exec('DROP INDEX items_of_call; ALTER TABLE items DROP COLUMN call_key');
    old.exec('PRAGMA user_version = 1');
    old.close();
    const storage = await openSqliteStorage(dataDir);
    const [hit] = await storage.store.search({ text: 'early', limit: 1 });
    expect(hit).toMatchObject({ item: { runId: 'run-1', index: 0 }, snippet: 'early words' });
    await storage.close();
  });

  test('is migrated if it was written before the index of calls existed', async () => {
    const storage = await openSqliteStorage(dataDir);
    const answer = { id: 'out', callId: 'c', output: 'Done', success: true } as const;
    const outputItems: OutputItem[] = [
      message('said'),
      { ...answer, type: 'function_call_output', origin: 'system' },
    ];
    await storage.store.saveResponse(response('run-1', [], { outputItems }));
    await storage.close();
    const old = new DatabaseSync(join(dataDir, 'liminal.db'));
    old.exec('DROP INDEX items_of_call; ALTER TABLE items DROP COLUMN call_key');
    old.exec('PRAGMA user_version = 6');
    old.close();
    const again = await openSqliteStorage(dataDir);
    const wanted = { runId: 'run-1', keys: ['tool:c'], side: 'from', index: 0 } as const;
    expect(await again.store.readCalls(wanted)).toMatchObject([{ index: 1, item: answer }]);
    await again.close();
  });

  test('that cannot be used is refused with a reason', async () => {
    writeFileSync(join(parent, 'file'), '');
    await expect(openSqliteStorage(join(parent, 'file', 'data'))).rejects.toMatchObject({
      code: 'DATA_DIR_UNUSABLE',
      message: expect.stringContaining('ENOTDIR'),
    });
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(join(dataDir, 'liminal.db'), 'This is no database. '.repeat(500));
    await expect(openSqliteStorage(dataDir)).rejects.toMatchObject({
      code: 'DATA_DIR_UNUSABLE',
      message: expect.stringContaining('not a database'),
    });
  });

  test('with damaged tables is refused with a reason, and released', async () => {
    await (await openSqliteStorage(dataDir)).close();
    const path = join(dataDir, 'liminal.db');
    const bytes = readFileSync(path);
    // The first page, which contains the list of tables, is not damaged.
    writeFileSync(path, bytes.fill('damaged ', 4096));
    for (const _ of ['first', 'again']) {
      await expect(openSqliteStorage(dataDir)).rejects.toMatchObject({
        code: 'DATA_DIR_UNUSABLE',
        message: expect.stringMatching(/damaged; restore it from a backup/),
      });
    }
  });

  test('can be read by other programs while the server runs', async () => {
    const storage = await openSqliteStorage(dataDir);
    await storage.log.append('run-1', eventsOf('run-1', [start, delta('a')]));
    const other = new DatabaseSync(join(dataDir, 'liminal.db'), { readOnly: true });
    expect(other.prepare('SELECT count(*) AS count FROM events').get()).toEqual({ count: 2 });
    other.close();
    await storage.close();
  });
});
