import { describe } from 'vitest';
import {
  blobSuite,
  coordinationSuite,
  eventArchiveSuite,
  eventLogSuite,
  grantsSuite,
  itemPagesSuite,
  partOf,
  responseStoreSuite,
  searchSuite,
} from '../index.ts';
import { openMemoryStorage, openSharedMemoryStorage } from './open.ts';

async function setup() {
  const storage = openMemoryStorage();
  return { subject: storage, teardown: storage.close };
}

describe('memory event log', () => {
  eventLogSuite(partOf(setup, 'log'));
});

describe('memory response store', () => {
  responseStoreSuite(partOf(setup, 'store'), 'part');
});

describe('memory event archive', () => {
  eventArchiveSuite(setup);
});

describe('memory grants', () => {
  grantsSuite(partOf(setup, 'store'));
});

describe('memory pages of items', () => {
  itemPagesSuite(partOf(setup, 'store'), 'part');
});

describe('memory search', () => {
  searchSuite(partOf(setup, 'store'));
});

describe('memory blobs', () => {
  blobSuite(setup);
});

describe('memory coordination', () => {
  coordinationSuite(async () => {
    const { log, coordination, close } = openSharedMemoryStorage();
    const server = { log, coordination };
    return { subject: { one: server, two: server }, teardown: close };
  });
});
