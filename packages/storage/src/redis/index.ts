/**
 * A log that several servers share in one Redis, or a Redis Cluster. Redis's libraries are loaded when a log is opened.
 */
import type { RedisReport } from './connection/index.ts';
import type { OpenedRedis, RedisOptions } from './open.ts';
import type { RunEntries } from './streams/index.ts';

export type { OpenedRedis, RedisOptions } from './open.ts';
export type { RunEntries } from './streams/index.ts';
export { splitRedisUrls } from './split-urls.ts';

/**
 * Opens the log and the coordination of its servers. Acknowledged events are as durable as the data of the Redis: with
 * `appendonly yes` and `appendfsync always` they survive any crash; with `everysec`, the events of the last second may
 * be lost. Throws StorageError `REDIS_UNAVAILABLE` if Redis cannot be reached.
 */
export async function openRedis(options: RedisOptions): Promise<OpenedRedis> {
  const driver = await import('./open.ts');
  return driver.openRedis(options);
}

/** Returns a Redis's version and unsafe settings, and changes nothing. Throws StorageError `REDIS_UNAVAILABLE`. */
export async function describeRedis(url: string): Promise<RedisReport> {
  const driver = await import('./connection/index.ts');
  return driver.describeRedis(url);
}

/**
 * Opens a run’s stream, and reads the stream in the same way as programs in other languages. Throws StorageError
 * `REDIS_UNAVAILABLE`.
 */
export async function openRunEntries(
  { url, prefix = 'codex' }: Pick<RedisOptions, 'url' | 'prefix'>,
  runId: string,
): Promise<RunEntries> {
  const { Keys } = await import('./connection/index.ts');
  const streams = await import('./streams/index.ts');
  return streams.RunEntries.open(url, new Keys(prefix), runId);
}
