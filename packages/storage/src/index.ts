/** Where Liminal keeps what it must not lose: the contracts, and a function per driver that opens it. */
import type { RedisReport } from './redis/describe.ts';
import type { OpenedRedis, RedisOptions } from './redis/open.ts';
import type { ResponseStore } from './response-store.ts';
import type { OpenedStorage } from './storage.ts';

export type * from './coordination.ts';
export * from './errors.ts';
export * from './event-log.ts';
export * from './memory/open.ts';
export type { OpenedRedis, RedisOptions } from './redis/open.ts';
export { splitRedisUrls } from './redis/split-urls.ts';
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

/**
 * Takes a data folder, which is made if it is missing, for this process alone, though nothing is stored in it. Gives
 * what lets it go. Throws StorageError `DATA_DIR_IN_USE`.
 */
export async function takeDataDir(dataDir: string): Promise<() => void> {
  const { lockDataDir, prepareDataDir } = await import('./sqlite/data-dir.ts');
  prepareDataDir(dataDir);
  const lock = lockDataDir(dataDir);
  return () => lock.close();
}

/**
 * Opens the log that several servers share in one Redis, and what they need to act as one. What is acknowledged is as
 * durable as that Redis: with `appendonly yes` and `appendfsync always` it survives any crash, with `everysec` all but
 * the last second. Throws StorageError `REDIS_UNAVAILABLE` if it cannot be reached.
 */
export async function openRedis(options: RedisOptions): Promise<OpenedRedis> {
  const driver = await import('./redis/open.ts');
  return driver.openRedis(options);
}

/** What that Redis is, and what of its settings does not fit; changes nothing. Throws StorageError `REDIS_UNAVAILABLE`. */
export async function describeRedis(url: string): Promise<RedisReport> {
  const driver = await import('./redis/describe.ts');
  return driver.describeRedis(url);
}

/** What that PostgreSQL is; changes nothing. Throws StorageError `DATABASE_UNUSABLE`. */
export async function describePostgres(url: string): Promise<string> {
  const driver = await import('./postgres/open.ts');
  return driver.describePostgres(url);
}

/**
 * Opens a store in a PostgreSQL database, which any number of servers may use at once, and makes or updates its tables
 * there in a schema of their own (`liminal`). Throws StorageError `DATABASE_UNUSABLE` or `DATA_TOO_NEW`.
 * @param url - `postgresql://user:password@host:port/database`
 */
export async function openPostgresStore(
  url: string,
  options: { schema?: string } = {},
): Promise<ResponseStore> {
  const driver = await import('./postgres/open.ts');
  return driver.openPostgresStore(url, options.schema ?? 'liminal');
}

/**
 * Opens a store in a Convex deployment that has the functions of `packages/storage/convex/` (see docs/convex.md). Throws
 * StorageError `DATABASE_UNUSABLE` or `DATA_TOO_NEW`.
 * @param secret - What the deployment's environment names as `LIMINAL_SECRET`.
 */
export async function openConvexStore(url: string, secret: string): Promise<ResponseStore> {
  const driver = await import('./convex/open.ts');
  return driver.openConvexStore(url, secret);
}
