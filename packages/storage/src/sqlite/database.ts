import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { StatementSync } from 'node:sqlite';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { withRetries } from '@liminal/protocol';
import { errors, StorageError } from '../errors.ts';
import { lockDataDir, prepareDataDir, privateFile } from './data-dir.ts';
import { isBusy, isSqliteError, reasonOf } from './failures.ts';
import { migrate, refuseForeign } from './schema.ts';

/** See docs/decisions/0001-sqlite.md for the reasons. */
const pragmas = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA foreign_keys = ON;
  -- Shrinks the write-ahead log again after a flood of writes.
  PRAGMA journal_size_limit = 67108864;
`;

/**
 * How long a write waits for another program that has locked the database, such as a backup, and how often the write is
 * tried, in ms.
 */
const busyTimeout = 5_000;
const busyPollMs = 25;

/**
 * How often a write checks whether the file still exists, in ms. A check takes as long as writing a small event, so not
 * every write checks.
 */
const fileCheckMs = 1_000;

type WriteFailure = 'LOG_WRITE_FAILED' | 'STORE_WRITE_FAILED';

/** The only connection to the database in a data folder, and the lock on that folder. */
export class Database {
  readonly #connection: DatabaseSync;
  readonly #path: string;
  // Without this reference, the connection would be garbage-collected; that would close the connection and release the
  // lock.
  readonly #lock: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  /** The identity of the open files, and the time of the last check that their paths still lead to these files. */
  readonly #files: string;
  #checkedAt = performance.now();
  /** The queue of writes that wait until another program unlocks the database. */
  #writeQueue: Promise<unknown> | undefined;

  /** Throws the errors of `openSqliteStorage`. */
  constructor(dataDir: string) {
    prepareDataDir(dataDir);
    this.#lock = lockDataDir(dataDir);
    try {
      refuseLostDatabase(join(dataDir, 'liminal.db'));
      this.#path = privateFile(dataDir, 'liminal.db');
      this.#connection = openConnection(this.#path);
      // After the start, no call may block the server's one thread.
      this.#connection.exec('PRAGMA busy_timeout = 0');
      this.#begin = this.prepare('BEGIN IMMEDIATE');
      this.#commit = this.prepare('COMMIT');
      this.#files = filesOf(this.#path);
    } catch (error) {
      this.#lock.close();
      throw error;
    }
  }

  prepare(sql: string): StatementSync {
    return this.#connection.prepare(sql);
  }

  /** Runs work that only reads. Throws StorageError `STORE_READ_FAILED`. */
  read<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      if (!isSqliteError(cause)) throw cause;
      throw errors.STORE_READ_FAILED.failed(this.#path, reasonOf(cause), { cause });
    }
  }

  /**
   * Writes like `write`, but waits while another program has locked the database. Waiting writes run in order and do
   * not block other work.
   */
  async writeInTurn<T>(code: WriteFailure, work: () => T): Promise<T> {
    if (this.#writeQueue === undefined) {
      try {
        return this.write(code, work);
      } catch (error) {
        if (!isHeld(error)) throw error;
      }
    }
    const end = performance.now() + busyTimeout;
    const write = () => this.#writeWithRetry(code, work, end);
    const queued = (this.#writeQueue ?? Promise.resolve()).then(write, write);
    this.#writeQueue = queued;
    try {
      return await queued;
    } finally {
      if (this.#writeQueue === queued) this.#writeQueue = undefined;
    }
  }

  async #writeWithRetry<T>(code: WriteFailure, work: () => T, end: number): Promise<T> {
    return withRetries(
      async () => this.write(code, work),
      async (error) => {
        if (!isHeld(error) || performance.now() > end || !this.#connection.isOpen) throw error;
        await delay(busyPollMs);
      },
    );
  }

  /** Runs the work in a transaction. Throws StorageError with the given code. */
  write<T>(code: WriteFailure, work: () => T): T {
    try {
      return this.#transaction(work);
    } catch (cause) {
      if (cause instanceof StorageError) throw cause;
      throw errors[code].rolledBack(this.#path, reasonOf(cause), { cause });
    }
  }

  close(): void {
    if (this.#connection.isOpen) this.#connection.close();
    if (this.#lock.isOpen) this.#lock.close();
  }

  /**
   * Throws if another program has deleted or replaced a file: data that is written to a deleted file is lost when
   * this process ends.
   */
  #assertFilesUnchanged(): void {
    if (performance.now() - this.#checkedAt < fileCheckMs) return;
    if (filesOf(this.#path) !== this.#files) {
      throw new Error(
        'another program has deleted or replaced it; stop the server, put the file back and start again',
      );
    }
    this.#checkedAt = performance.now();
  }

  #transaction<T>(work: () => T): T {
    this.#assertFilesUnchanged();
    this.#begin.run();
    try {
      const result = work();
      this.#commit.run();
      return result;
    } catch (error) {
      // If the disk is full, SQLite has rolled back already.
      if (this.#connection.isTransaction) this.#connection.exec('ROLLBACK');
      throw error;
    }
  }
}

/** Returns the identity of a database file and its write-ahead log, independent of their content. */
function filesOf(path: string): string {
  const found = [path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false }));
  return found.map((file) => `${file?.dev}:${file?.ino}`).join();
}

/**
 * Refuses a write-ahead log whose database is missing or empty: SQLite would delete the log, and with it the newest
 * data. Throws StorageError `DATA_DIR_UNUSABLE`.
 */
function refuseLostDatabase(path: string): void {
  const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (sizeOf(path) > 0 || sizeOf(`${path}-wal`) === 0) return;
  throw errors.DATA_DIR_UNUSABLE.lost(path);
}

/** Returns whether a write failed because another program has locked the database. */
function isHeld(error: unknown): boolean {
  return error instanceof StorageError && isBusy(error.cause);
}

function openConnection(path: string): DatabaseSync {
  const connection = new DatabaseSync(path, { timeout: busyTimeout });
  try {
    refuseForeign(connection, path);
    connection.exec(pragmas);
    migrate(connection, path);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}
