/** The data folder: private to its owner, and to one server at a time. */
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StorageError } from '../errors.ts';
import { isBusy } from './failures.ts';

/** Makes the folder if it is missing. One that somebody else filled keeps its mode: it may be theirs to share. */
export function prepareDataDir(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (readdirSync(dataDir).length === 0) chmodSync(dataDir, 0o700);
}

/** Makes a file that only its owner can read, if it is missing, and gives its path. SQLite's files beside it take its mode. */
export function privateFile(dataDir: string, name: string): string {
  const path = join(dataDir, name);
  try {
    // Never opens a file that is there: closing it again would drop this process's own SQLite locks on it.
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  chmodSync(path, 0o600);
  return path;
}

/**
 * Takes the folder for this process for as long as the returned connection is open. The lock is the kernel's: it goes
 * with the process, however that ends. Throws StorageError `DATA_DIR_IN_USE`.
 */
export function lockDataDir(dataDir: string): DatabaseSync {
  // A database of its own, so that other programs can still read the real one.
  const lock = new DatabaseSync(privateFile(dataDir, 'liminal.lock'));
  try {
    // Nothing is ever written: the journal, were it a file, would only be left behind.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
    return lock;
  } catch (cause) {
    lock.close();
    if (!isBusy(cause)) throw cause;
    throw new StorageError(
      'DATA_DIR_IN_USE',
      `Another Liminal server is using the data folder ${dataDir}. Stop it, or choose another folder with --data.`,
      { cause },
    );
  }
}
