import type { Coordination, Inboxes, Unsubscribe } from '../../coordination.ts';
import type { OpenedStorage } from '../../storage.ts';
import { MemoryBlobStore } from './blob-store.ts';
import { MemoryBoard } from './board.ts';
import { MemoryEventArchive } from './event-archive.ts';
import { MemoryEventLog } from './event-log.ts';
import { MemoryLeases } from './leases.ts';
import { MemoryResponseStore } from './response-store.ts';
import { MemoryRunRegistry } from './run-registry.ts';
import { MemoryTaskQueue } from './task-queue.ts';
import { MemoryUpsertStreams } from './upsert-streams.ts';

export { MemoryUpsertStreams };

/**
 * Opens storage in memory, which is lost when the process ends: for tests, and for trying Liminal without leaving files
 * behind.
 */
export function openMemoryStorage(): OpenedStorage {
  return open(new MemoryEventLog(), Date.now);
}

/**
 * Opens the same storage for several runtimes in one process, which act like several servers.
 * @param now - The clock, ms since the epoch.
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
    tasks: new MemoryTaskQueue(),
    upserts: new MemoryUpsertStreams(),
  };
  return { ...open(log, now), coordination };
}

function open(log: MemoryEventLog, now: () => number): OpenedStorage {
  const deleted = new Set<string>();
  const blobs = new MemoryBlobStore(now, deleted);
  const eventArchive = new MemoryEventArchive(deleted);
  const store = new MemoryResponseStore(blobs, eventArchive, deleted);
  return {
    log,
    store,
    blobs,
    eventArchive,
    close: async () => {
      await log.close();
      await store.close();
    },
  };
}

type Listener = (message: string) => void;

class MemoryInboxes implements Inboxes {
  readonly #open = new Map<string, Listener>();

  async open(name: string, listener: Listener): Promise<Unsubscribe> {
    this.#open.set(name, listener);
    return async () => {
      if (this.#open.get(name) === listener) this.#open.delete(name);
    };
  }

  async send(name: string, message: string): Promise<boolean> {
    const listener = this.#open.get(name);
    if (listener === undefined) return false;
    queueMicrotask(() => listener(message));
    return true;
  }
}
