import { randomUUID } from 'node:crypto';
import {
  type RedisClusterOptions,
  type RedisServer,
  startRedisCluster,
  type TestRedis,
} from '@liminal/testkit';
import { expect } from 'vitest';
import { ask } from '../../packages/storage/test/redis-stage.ts';

/** How long a replica may take to replace its master on a busy machine, in ms. */
const patience = { timeout: 30_000, interval: 50 };

/** A Redis Cluster that only this test uses, for all servers of the test. */
export interface SharedRedisCluster extends TestRedis {
  /** The prefix of all keys. */
  readonly prefix: string;
  /** Cuts off the replicas from their masters, so that the replicas miss all later writes. */
  detachReplicas(): Promise<void>;
  /** Kills the master that stores a key. Waits until the replica of this master has taken over. */
  killMasterOf(key: string): Promise<void>;
}

export async function redisCluster(options: RedisClusterOptions = {}): Promise<SharedRedisCluster> {
  const cluster = await startRedisCluster(options);
  const { masters } = cluster;
  const prefix = randomUUID();
  return {
    url: masters.map((master) => master.url).join(),
    prefix,
    newPrefix: () => prefix,
    release: async () => cluster.stop(),
    detachReplicas: async () => {
      await Promise.all(
        masters.map(async (master, index) => detach(cluster.replicas[index]!, master)),
      );
    },
    killMasterOf: async (key) => {
      const victim = await masterOf(key, masters);
      const heir = cluster.replicas[masters.indexOf(victim)]!;
      await victim.kill();
      await expect.poll(async () => ask(heir, 'ROLE'), patience).toContain('master');
      const others = [...masters, ...cluster.replicas].filter((node) => node !== victim);
      await cluster.ready(others);
    },
  };
}

async function detach(replica: RedisServer, master: RedisServer): Promise<void> {
  // The replica now has a wrong password, so the master, which needs no password, rejects the replica, and the replica
  // retries once a second. If the master rejected a later step of the connection, the replica would retry for ever
  // without a delay.
  await ask(replica, 'CONFIG', 'SET', 'masterauth', 'wrong');
  await ask(master, 'CLIENT', 'KILL', 'TYPE', 'replica');
}

async function masterOf(key: string, masters: readonly RedisServer[]): Promise<RedisServer> {
  for (const master of masters) {
    const isThere = await ask(master, 'EXISTS', key).catch((error: Error) => {
      if (error.message.startsWith('MOVED ')) return 0;
      throw error;
    });
    if (isThere === 1) return master;
  }
  throw new Error(`No master has ${key}.`);
}
