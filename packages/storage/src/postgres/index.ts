/** History in PostgreSQL, for any number of servers. PostgreSQL's libraries are loaded when a database is opened. */
import type { OpenedDatabase } from '../storage.ts';

/** Returns the name and version of a PostgreSQL, and changes nothing. Throws StorageError `DATABASE_UNUSABLE`. */
export async function describePostgres(url: string): Promise<string> {
  const driver = await import('./open.ts');
  return driver.describePostgres(url);
}

/**
 * Opens a store and its blobs in a PostgreSQL database, which any number of servers may use at once. Creates or updates
 * its tables in their own schema (`liminal`). Throws StorageError `DATABASE_UNUSABLE` or `DATA_TOO_NEW`.
 * @param url - `postgresql://user:password@host:port/database`
 */
export async function openPostgres(
  url: string,
  options: { schema?: string } = {},
): Promise<OpenedDatabase> {
  const driver = await import('./open.ts');
  return driver.openPostgres(url, options.schema ?? 'liminal');
}
