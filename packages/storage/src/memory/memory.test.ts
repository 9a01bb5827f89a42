import { describe } from 'vitest';
import {
  coordinationSuite,
  eventLogSuite,
  itemPagesSuite,
  responseStoreSuite,
  searchSuite,
} from '../testing/index.ts';
import { openMemoryStorage, openSharedMemoryStorage } from './open.ts';

describe('memory event log', () => {
  eventLogSuite(async () => {
    const { log, close } = openMemoryStorage();
    return { subject: log, teardown: close };
  });
});

describe('memory response store', () => {
  responseStoreSuite(async () => {
    const { store, close } = openMemoryStorage();
    return { subject: store, teardown: close };
  });
});

describe('memory pages of items', () => {
  itemPagesSuite(async () => {
    const { store, close } = openMemoryStorage();
    return { subject: store, teardown: close };
  });
});

describe('memory search', () => {
  searchSuite(async () => {
    const { store, close } = openMemoryStorage();
    return { subject: store, teardown: close };
  });
});

describe('memory coordination', () => {
  coordinationSuite(async () => {
    const { log, coordination, close } = openSharedMemoryStorage();
    const server = { log, coordination };
    return { subject: { one: server, two: server }, teardown: close };
  });
});
