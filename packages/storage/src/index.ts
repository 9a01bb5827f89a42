/** Where Liminal keeps what it must not lose: the contracts, and a function per driver that opens it. */
import type { OpenedStorage } from './storage.ts';

export type * from './coordination.ts';
export * from './errors.ts';
export * from './event-log.ts';
export * from './memory/open.ts';
export * from './response-store.ts';
export * from './storage.ts';

/**
 * Opens (or makes) the database in the data folder, which one server at a time may use. Throws StorageError
 * `DATA_DIR_IN_USE`, `DATA_DIR_UNUSABLE` or `DATA_TOO_NEW`, each with what to do about it.
 */
export async function openSqliteStorage(dataDir: string): Promise<OpenedStorage> {
  // Loaded when used: a server on another driver needs no SQLite.
  const driver = await import('./sqlite/open.ts');
  return driver.openSqliteStorage(dataDir);
}
