/** A log that several servers share in one Redis, or a Redis Cluster. Its libraries are loaded when it is opened. */
import type { RedisReport } from './connection/index.ts';
import type { OpenedRedis, RedisOptions } from './open.ts';
import type { RunEntries } from './streams/index.ts';

export type { OpenedRedis, RedisOptions } from './open.ts';
export type { RunEntries } from './streams/index.ts';
export { splitRedisUrls } from './split-urls.ts';

/**
 * Opens that log, and what its servers need to act as one. Acknowledged events are as durable as that Redis: with
 * `appendonly yes` and `appendfsync always` they survive any crash, with `everysec` all but the last second's. Throws
 * StorageError `REDIS_UNAVAILABLE` if it cannot be reached.
 */
export async function openRedis(options: RedisOptions): Promise<OpenedRedis> {
  const driver = await import('./open.ts');
  return driver.openRedis(options);
}

/** A Redis's version, and settings that do not fit; changes nothing. Throws StorageError `REDIS_UNAVAILABLE`. */
export async function describeRedis(url: string): Promise<RedisReport> {
  const driver = await import('./connection/index.ts');
  return driver.describeRedis(url);
}

/** A run’s stream for reading, as any program reads it. Throws StorageError `REDIS_UNAVAILABLE`. */
export async function openRunEntries(
  { url, prefix = 'codex' }: Pick<RedisOptions, 'url' | 'prefix'>,
  runId: string,
): Promise<RunEntries> {
  const { Keys } = await import('./connection/index.ts');
  const streams = await import('./streams/index.ts');
  return streams.RunEntries.open(url, new Keys(prefix), runId);
}
