/** Storage in one SQLite database, for one server. What it needs is loaded when it is opened. */
import type { OpenedStorage } from '../storage.ts';

/**
 * Opens (or makes) the database in the data folder, which one server at a time may use. Throws StorageError
 * `DATA_DIR_IN_USE`, `DATA_DIR_UNUSABLE` or `DATA_TOO_NEW`, each with what to do about it.
 */
export async function openSqliteStorage(dataDir: string): Promise<OpenedStorage> {
  const driver = await import('./open.ts');
  return driver.openSqliteStorage(dataDir);
}

/**
 * Takes a data folder, which is made if it is missing, for this process alone, though nothing is stored in it. Gives
 * what lets it go. Throws StorageError `DATA_DIR_IN_USE`.
 */
export async function takeDataDir(dataDir: string): Promise<() => void> {
  const { lockDataDir, prepareDataDir } = await import('./data-dir.ts');
  prepareDataDir(dataDir);
  const lock = lockDataDir(dataDir);
  return () => lock.close();
}
