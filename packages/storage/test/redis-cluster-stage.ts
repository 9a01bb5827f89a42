import { type RedisServer, startRedisCluster, type TestRedisCluster } from '@liminal/testkit';
import { randomUUID } from 'node:crypto';
import calculateSlot from 'cluster-key-slot';
import { onTestFinished } from 'vitest';
import type { OpenedRedis, RedisOptions } from '../src/redis/index.ts';
import { openRedis } from '../src/redis/index.ts';
import { Keys } from '../src/redis/connection/keys.ts';
import { ask } from './redis-stage.ts';

type ClusterOptions = Parameters<typeof startRedisCluster>[0];

/** A cluster for a test, with key names of its own. */
export interface ClusterStage {
  readonly cluster: TestRedisCluster;
  readonly keys: Keys;
  /** Connects a server, which is closed after the test. */
  open(more?: Partial<RedisOptions>): Promise<OpenedRedis>;
  /** The index of the master that had the key when the cluster started. */
  masterOf(key: string): number;
  /** Ids of runs that are on a master. */
  runsOn(master: number, count: number): string[];
}

/** A cluster for one test. */
export async function ownCluster(options: ClusterOptions = {}): Promise<ClusterStage> {
  const cluster = await startRedisCluster(options);
  onTestFinished(async () => cluster.stop());
  return onStage(cluster);
}

export function onStage(cluster: TestRedisCluster): ClusterStage {
  const prefix = randomUUID();
  const keys = new Keys(prefix);
  const masterOf = (key: string) => Math.floor((calculateSlot(key) * 3) / 16_384);
  const open = async (more: Partial<RedisOptions> = {}) => {
    const opened = await openRedis({ url: cluster.masters[0]?.url ?? '', prefix, ...more });
    onTestFinished(async () => opened.close());
    return opened;
  };
  const runsOn = (master: number, count: number) => {
    const runs: string[] = [];
    for (let index = 0; runs.length < count; index += 1) {
      if (masterOf(keys.events(`run-${index}`)) === master) runs.push(`run-${index}`);
    }
    return runs;
  };
  return { cluster, keys, open, masterOf, runsOn };
}

/** The other clients of the masters, as Redis describes them. */
export async function clientsOf({ masters }: TestRedisCluster): Promise<string[]> {
  const lists = await Promise.all(masters.map(async (node) => ask(node, 'CLIENT', 'LIST')));
  return lists.flatMap((list) => {
    const clients = String(list).trim().split('\n');
    return clients.filter((client) => !client.includes('cmd=client|list'));
  });
}

/**
 * Moves a slot with all its keys from one master to another, while others use the slot.
 * @param midway - Called when each master has some of the keys.
 */
export async function moveSlot(
  { masters }: TestRedisCluster,
  slot: number,
  from: number,
  to: number,
  midway: () => Promise<void>,
): Promise<void> {
  const [source, target] = [masters[from]!, masters[to]!];
  const idOf = async (node: RedisServer) => String(await ask(node, 'CLUSTER', 'MYID'));
  const [sourceId, targetId] = [await idOf(source), await idOf(target)];
  const of = ['CLUSTER', 'SETSLOT', String(slot)] as const;
  await ask(target, ...of, 'IMPORTING', sourceId);
  await ask(source, ...of, 'MIGRATING', targetId);
  const keys = (await ask(source, 'CLUSTER', 'GETKEYSINSLOT', String(slot), '100')) as string[];
  for (const key of keys) {
    await ask(source, 'MIGRATE', '127.0.0.1', String(target.port), key, '0', '5000');
  }
  await midway();
  for (const node of [target, source, ...masters]) await ask(node, ...of, 'NODE', targetId);
}
