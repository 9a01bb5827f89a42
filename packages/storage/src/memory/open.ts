import type { OpenedStorage } from '../storage.ts';
import { MemoryEventLog } from './event-log.ts';
import { MemoryResponseStore } from './response-store.ts';

/** Storage that ends with the process: for tests, and for a look without leaving anything behind. */
export function openMemoryStorage(): OpenedStorage {
  const log = new MemoryEventLog();
  const store = new MemoryResponseStore();
  return {
    log,
    store,
    close: async () => {
      await log.close();
      await store.close();
    },
  };
}
