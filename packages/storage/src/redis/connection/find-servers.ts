import { errors } from '../../errors.ts';
import type { Servers } from './connections.ts';
import { isReply, unavailable } from './failures.ts';
import { OneRedis } from './one-redis.ts';
import { RedisCluster } from './redis-cluster.ts';
import { splitRedisUrls } from '../split-urls.ts';

/**
 * Connects to a Redis, or to a cluster through some of its nodes. The first server that answers shows whether it is a
 * cluster. Throws StorageError `REDIS_UNAVAILABLE`.
 */
export async function findServers(urls: string): Promise<Servers> {
  const named = splitRedisUrls(urls).map((url) => new OneRedis(url));
  try {
    const first = await firstThatAnswers(named);
    if (await isOfCluster(first)) return await openCluster(named, first);
    if (named.length === 1) return first;
    throw errors.REDIS_UNAVAILABLE.severalServers(addressOf(first));
  } catch (error) {
    for (const each of named) each.close();
    throw error;
  }
}

async function firstThatAnswers(named: OneRedis[]): Promise<OneRedis> {
  let failure: unknown;
  for (const one of named) {
    try {
      await one.open();
      return one;
    } catch (cause) {
      failure = unavailable(cause, one.trouble);
    }
  }
  throw failure;
}

async function isOfCluster(one: OneRedis): Promise<boolean> {
  try {
    return String(await one.send('INFO', ['cluster'])).includes('cluster_enabled:1');
  } catch (cause) {
    // In a cluster, the user needs the permission for `INFO`; so this Redis is not part of a cluster.
    if (isReply(cause, 'NOPERM')) return false;
    throw unavailable(cause, one.trouble);
  }
}

async function openCluster(named: OneRedis[], first: OneRedis): Promise<RedisCluster> {
  const { db, username, password, tls } = first.options;
  if (db) {
    throw errors.REDIS_UNAVAILABLE.noDatabases(addressOf(first), db);
  }
  const addresses = named.map(({ options: { host, port } }) => ({ host, port }));
  const cluster = new RedisCluster(addresses, { username, password, tls });
  try {
    await cluster.open();
  } catch (cause) {
    cluster.close();
    throw unavailable(cause, cluster.trouble);
  }
  for (const each of named) each.close();
  return cluster;
}

function addressOf({ options: { host, port } }: OneRedis): string {
  return `${host}:${port}`;
}
