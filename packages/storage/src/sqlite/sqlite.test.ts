import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe } from 'vitest';
import type { OpenedStorage } from '../storage.ts';
import {
  blobSuite,
  damageSuite,
  eventArchiveSuite,
  eventLogSuite,
  grantsSuite,
  itemPagesSuite,
  partOf,
  responseStoreSuite,
  searchSuite,
} from '../testing/index.ts';
import { openSqliteStorage } from './open.ts';

async function setup() {
  const dataDir = await mkdtemp(join(tmpdir(), 'liminal-sqlite-'));
  let storage: OpenedStorage = openSqliteStorage(dataDir);
  const size = async () => sizeOf(dataDir);
  const damage = async (kind: keyof typeof columns, change: (json: string) => string) => {
    const [table, column] = columns[kind];
    const other = new DatabaseSync(join(dataDir, 'liminal.db'));
    other.function('changed', (json) => change(String(json)));
    other.exec(`UPDATE ${table} SET ${column} = changed(${column})`);
    other.close();
  };
  return {
    subject: { ...storage, size, damage },
    reopen: async () => {
      await storage.close();
      storage = openSqliteStorage(dataDir);
      return { ...storage, size, damage };
    },
    teardown: async () => {
      await storage.close();
      await rm(dataDir, { recursive: true });
    },
  };
}

const columns = {
  session: ['sessions', 'record'],
  head: ['responses', 'head'],
  item: ['items', 'item'],
  grant: ['grants', 'record'],
} as const;

/** The size of the database in bytes. */
function sizeOf(dataDir: string): number {
  const other = new DatabaseSync(join(dataDir, 'liminal.db'), { readOnly: true });
  const row = other
    .prepare('SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size')
    .get();
  other.close();
  return Number(row?.['bytes']);
}

describe('sqlite event log', () => {
  eventLogSuite(partOf(setup, 'log'));
});

describe('sqlite response store', () => {
  responseStoreSuite(partOf(setup, 'store'));
});

describe('sqlite event archive', () => {
  eventArchiveSuite(setup);
});

describe('sqlite grants', () => {
  grantsSuite(partOf(setup, 'store'));
});

describe('sqlite damage', () => {
  damageSuite(setup);
});

describe('sqlite pages of items', () => {
  itemPagesSuite(partOf(setup, 'store'));
});

describe('sqlite search', () => {
  searchSuite(partOf(setup, 'store'));
});

describe('sqlite blobs', () => {
  blobSuite(setup);
});
