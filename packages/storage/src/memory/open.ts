import type { Coordination } from '../coordination.ts';
import type { OpenedStorage } from '../storage.ts';
import { MemoryBoard } from './board.ts';
import { MemoryEventLog } from './event-log.ts';
import { MemoryInboxes } from './inboxes.ts';
import { MemoryLeases } from './leases.ts';
import { MemoryResponseStore } from './response-store.ts';
import { MemoryRunRegistry } from './run-registry.ts';
import { MemoryUpsertStreams } from './upsert-streams.ts';

export { MemoryUpsertStreams };

/** Storage that ends with the process: for tests, and for trying Liminal without leaving anything behind. */
export function openMemoryStorage(): OpenedStorage {
  return open(new MemoryEventLog());
}

/**
 * The same for several runtimes in one process, which act like several servers.
 * @param now - ms since the epoch.
 */
export function openSharedMemoryStorage(
  now: () => number = Date.now,
): OpenedStorage & { coordination: Coordination } {
  const log = new MemoryEventLog(() => registry.notify());
  const registry = new MemoryRunRegistry(log);
  const coordination = {
    leases: new MemoryLeases(now),
    board: new MemoryBoard(now),
    inboxes: new MemoryInboxes(),
    registry,
    upserts: new MemoryUpsertStreams(),
  };
  return { ...open(log), coordination };
}

function open(log: MemoryEventLog): OpenedStorage {
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
