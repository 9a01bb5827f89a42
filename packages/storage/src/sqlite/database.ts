import type { StatementSync } from 'node:sqlite';
import { DatabaseSync } from 'node:sqlite';
import { StorageError } from '../errors.ts';
import { lockDataDir, prepareDataDir, privateFile } from './data-dir.ts';
import { reasonOf } from './failures.ts';
import { migrate } from './schema.ts';

/** What a decision record explains: docs/decisions/0001-sqlite.md. */
const pragmas = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA foreign_keys = ON;
  -- What a flood makes of the write-ahead log is given back to the disk.
  PRAGMA journal_size_limit = 67108864;
`;

/** How long (ms) to wait for another program, such as a backup, that holds the database. */
const busyTimeout = 5_000;

/** The one connection to the database in a data folder, and the lock on that folder. */
export class Database {
  readonly #connection: DatabaseSync;
  readonly #path: string;
  // Held here because the lock lasts as long as its connection, which is closed once nobody refers to it.
  readonly #lock: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;

  /** Throws as `openSqliteStorage` says. */
  constructor(dataDir: string) {
    prepareDataDir(dataDir);
    this.#lock = lockDataDir(dataDir);
    try {
      this.#path = privateFile(dataDir, 'liminal.db');
      this.#connection = connect(this.#path);
      this.#begin = this.prepare('BEGIN IMMEDIATE');
      this.#commit = this.prepare('COMMIT');
    } catch (error) {
      this.#lock.close();
      throw error;
    }
  }

  prepare(sql: string): StatementSync {
    return this.#connection.prepare(sql);
  }

  /** Does all of the work or nothing of it. Throws StorageError with the given code. */
  write<T>(code: 'LOG_WRITE_FAILED' | 'STORE_WRITE_FAILED', work: () => T): T {
    try {
      return this.#transaction(work);
    } catch (cause) {
      const message = `${this.#path} could not be written: ${reasonOf(cause)}. Nothing of it was kept; it can be tried again.`;
      throw new StorageError(code, message, { cause });
    }
  }

  close(): void {
    if (this.#connection.isOpen) this.#connection.close();
    if (this.#lock.isOpen) this.#lock.close();
  }

  #transaction<T>(work: () => T): T {
    this.#begin.run();
    try {
      const result = work();
      this.#commit.run();
      return result;
    } catch (error) {
      // A full disk makes SQLite roll back by itself.
      if (this.#connection.isTransaction) this.#connection.exec('ROLLBACK');
      throw error;
    }
  }
}

function connect(path: string): DatabaseSync {
  const connection = new DatabaseSync(path, { timeout: busyTimeout });
  try {
    connection.exec(pragmas);
    migrate(connection, path);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}
