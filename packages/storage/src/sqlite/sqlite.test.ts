import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import type { OpenedStorage } from '../storage.ts';
import {
  eventLogSuite,
  itemPagesSuite,
  partOf,
  responseStoreSuite,
  searchSuite,
} from '../testing/index.ts';
import { openSqliteStorage } from './open.ts';

async function setup() {
  const dataDir = await mkdtemp(join(tmpdir(), 'liminal-sqlite-'));
  let storage: OpenedStorage = openSqliteStorage(dataDir);
  return {
    subject: storage,
    reopen: async () => {
      await storage.close();
      storage = openSqliteStorage(dataDir);
      return storage;
    },
    teardown: async () => {
      await storage.close();
      await rm(dataDir, { recursive: true });
    },
  };
}

describe('sqlite event log', () => {
  eventLogSuite(partOf(setup, 'log'));
});

describe('sqlite response store', () => {
  responseStoreSuite(partOf(setup, 'store'));
});

describe('sqlite pages of items', () => {
  itemPagesSuite(partOf(setup, 'store'));
});

describe('sqlite search', () => {
  searchSuite(partOf(setup, 'store'));
});
