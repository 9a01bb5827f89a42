/** The data folder: private to its owner, and used by one server at a time. */
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { errors } from '../errors.ts';
import { isBusy } from './failures.ts';

/** Creates the folder if it is missing. A folder with files keeps its mode, because it may be shared on purpose. */
export function prepareDataDir(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (readdirSync(dataDir).length === 0) chmodSync(dataDir, 0o700);
}

/**
 * Creates a private file if it is missing, and returns its path. SQLite gives the database's other files the same mode.
 */
export function privateFile(dataDir: string, name: string): string {
  const path = join(dataDir, name);
  try {
    // Never opens an existing file, because closing it would drop this process's own SQLite locks on it.
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  chmodSync(path, 0o600);
  return path;
}

/**
 * Locks the folder for this process as long as the returned connection is open. The kernel holds the lock: the lock
 * ends with the process, however the process ends. Throws StorageError `DATA_DIR_IN_USE`.
 */
export function lockDataDir(dataDir: string): DatabaseSync {
  // A separate database contains the lock, so that other programs can still read the real database.
  const lock = new DatabaseSync(privateFile(dataDir, 'liminal.lock'));
  try {
    // The lock file is never written. Its journal is kept in memory, because a journal file would remain in the folder.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
    return lock;
  } catch (cause) {
    lock.close();
    if (!isBusy(cause)) throw cause;
    throw errors.DATA_DIR_IN_USE.byServer(dataDir, { cause });
  }
}
