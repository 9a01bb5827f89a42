/** Storage in one SQLite database, for one server. SQLite's library is loaded when the database is opened. */
import type { OpenedStorage } from '../storage.ts';

/**
 * Opens the database in the data folder, and creates it if it is missing. Only one server at a time may use the data
 * folder. Throws StorageError `DATA_DIR_IN_USE`, `DATA_DIR_UNUSABLE` or `DATA_TOO_NEW`, each with advice.
 */
export async function openSqliteStorage(dataDir: string): Promise<OpenedStorage> {
  const driver = await import('./open.ts');
  return driver.openSqliteStorage(dataDir);
}

/**
 * Locks a data folder for this process, and creates the folder if it is missing. Stores nothing in the folder. Returns
 * the unlock function. Throws StorageError `DATA_DIR_IN_USE`.
 */
export async function takeDataDir(dataDir: string): Promise<() => void> {
  const { lockDataDir, prepareDataDir } = await import('./data-dir.ts');
  prepareDataDir(dataDir);
  const lock = lockDataDir(dataDir);
  return () => lock.close();
}
