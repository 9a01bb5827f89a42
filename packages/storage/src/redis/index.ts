/** The log that several servers share in one Redis, or a Redis Cluster. What it needs is loaded when it is opened. */
import type { RedisReport } from './connection/index.ts';
import type { OpenedRedis, RedisOptions } from './open.ts';

export type { OpenedRedis, RedisOptions } from './open.ts';
export { splitRedisUrls } from './split-urls.ts';

/**
 * Opens that log, and what its servers need to act as one. What is acknowledged is as durable as that Redis: with
 * `appendonly yes` and `appendfsync always` it survives any crash, with `everysec` all but the last second. Throws
 * StorageError `REDIS_UNAVAILABLE` if it cannot be reached.
 */
export async function openRedis(options: RedisOptions): Promise<OpenedRedis> {
  const driver = await import('./open.ts');
  return driver.openRedis(options);
}

/** What that Redis is, and what of its settings does not fit; changes nothing. Throws StorageError `REDIS_UNAVAILABLE`. */
export async function describeRedis(url: string): Promise<RedisReport> {
  const driver = await import('./connection/index.ts');
  return driver.describeRedis(url);
}
