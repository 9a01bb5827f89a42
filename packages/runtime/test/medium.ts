import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StreamEvent } from '@liminal/protocol';
import type { EventLog, OpenedStorage } from '@liminal/storage';
import { openMemoryStorage } from '@liminal/storage/memory';
import { openSqliteStorage } from '@liminal/storage/sqlite';

/** The data of a driver: it outlives the servers that use it one after the other, and their crashes. */
interface Medium {
  /** Opens the storage for the next server, after the last one has closed its storage or crashed. */
  open(): Promise<OpenedStorage>;
  /** Leaves the data as a SIGKILL of the server would. */
  crash(): Promise<void>;
  remove(): void;
}

const drivers = { memory: memoryMedium, sqlite: sqliteMedium };

export type Driver = keyof typeof drivers;

export function openMedium(driver: Driver): WitnessedMedium {
  return new WitnessedMedium(drivers[driver]());
}

function memoryMedium(): Medium {
  const storage = openMemoryStorage();
  return {
    open: async () => ({ ...storage, close: async () => {} }),
    crash: async () => {},
    remove() {},
  };
}

function sqliteMedium(): Medium {
  const dataDir = mkdtempSync(join(tmpdir(), 'liminal-medium-'));
  // Content that SQLite has not yet moved into the database is in the second file.
  const files = ['liminal.db', 'liminal.db-wal'].map((name) => join(dataDir, name));
  let opened: OpenedStorage | undefined;
  return {
    open: async () => (opened = await openSqliteStorage(dataDir)),
    crash: async () => {
      const left = files.map((path) => (existsSync(path) ? readFileSync(path) : undefined));
      // The kernel releases a dead server's lock. This process is alive and can release the lock only by closing,
      // which also cleans up; so the files are restored afterwards to their state at the crash.
      await opened?.close();
      for (const [index, path] of files.entries()) {
        const bytes = left[index];
        if (bytes) writeFileSync(path, bytes);
      }
    },
    remove: () => rmSync(dataDir, { recursive: true, force: true }),
  };
}

/**
 * A medium that records what its log has acknowledged, and that a crashed server can no longer change. Opening fails if
 * the log has lost an acknowledged event.
 */
export class WitnessedMedium implements Medium {
  /** Every event that the log has acknowledged, by run, in the order of the runs. */
  readonly acknowledged = new Map<string, StreamEvent[]>();
  readonly #medium: Medium;
  #power = { on: true };

  constructor(medium: Medium) {
    this.#medium = medium;
  }

  async open(): Promise<OpenedStorage> {
    const power = { on: true };
    this.#power = power;
    const { log, store, blobs, eventArchive: archive, close } = await this.#medium.open();
    for (const { runId } of await log.unsettled()) {
      assert.deepEqual(await log.read(runId), this.acknowledged.get(runId));
    }
    return {
      log: whilePowered(this.#witness(log), power),
      store: whilePowered(store, power),
      blobs: whilePowered(blobs, power),
      ...(archive && { eventArchive: whilePowered(archive, power) }),
      close,
    };
  }

  async crash(): Promise<void> {
    this.#power.on = false;
    await this.#medium.crash();
  }

  remove(): void {
    this.#medium.remove();
  }

  #witness(log: EventLog): EventLog {
    return {
      append: async (runId, events) => {
        await log.append(runId, events);
        const known = this.acknowledged.get(runId);
        if (known) known.push(...events);
        else this.acknowledged.set(runId, [...events]);
      },
      read: async (runId, options) => log.read(runId, options),
      follow: (runId, options) => log.follow(runId, options),
      unsettled: async () => log.unsettled(),
      settle: async (runId) => log.settle(runId),
      close: async () => log.close(),
    };
  }
}

/** After a power cut calls never return, as for a dead process. */
function whilePowered<T extends object>(target: T, power: { readonly on: boolean }): T {
  return new Proxy(target, {
    get(_, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) =>
        power.on ? Reflect.apply(member, target, args) : new Promise(() => {});
    },
  });
}
