import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { type RedisOptions, type RedisServer, startRedis } from './redis.ts';
import { freePort } from './server-process.ts';

/** A Redis Cluster on loopback that belongs to one test. */
export interface TestRedisCluster {
  /** The masters. Each master has a third of the slots. */
  readonly masters: readonly RedisServer[];
  /** The replicas, one for each master, in the order of the masters; empty if the cluster has no replicas. */
  readonly replicas: readonly RedisServer[];
  /** Resolves when each of these nodes (default: all) reports that the cluster works. */
  ready(nodes?: readonly RedisServer[]): Promise<void>;
  /** Ends the cluster permanently, and deletes its data. */
  stop(): Promise<void>;
}

export interface RedisClusterOptions extends RedisOptions {
  /** Whether each master has a replica. A replica takes over when its master has ended. */
  hasReplicas?: boolean;
}

/** A node, and the port on which it receives messages of the other nodes. */
type Node = RedisServer & { busPort: number };

const slots = 16_384;
const masterCount = 3;
/** How long the nodes may take to agree on a busy machine, and the time between two questions to the nodes, in ms. */
const patience = { timeout: 60_000, interval: 50 };

/**
 * Starts a cluster of three masters on free ports. If a master is missing, only the slots of this master are
 * unavailable.
 */
export async function startRedisCluster(
  options: RedisClusterOptions = {},
): Promise<TestRedisCluster> {
  const { hasReplicas = false, ...each } = options;
  const count = hasReplicas ? 2 * masterCount : masterCount;
  const nodes = await Promise.all(Array.from({ length: count }, async () => startNode(each)));
  const [masters, replicas] = [nodes.slice(0, masterCount), nodes.slice(masterCount)];
  const stop = async () => {
    await Promise.all(nodes.map(async (node) => node.stop()));
  };
  const ready = async (some: readonly RedisServer[] = nodes) => {
    await Promise.all(some.map(isReady));
  };
  try {
    await share(masters);
    await meet(nodes);
    await follow(replicas, masters);
    await ready();
  } catch (error) {
    await stop();
    throw error;
  }
  return { masters, replicas, ready, stop };
}

/** Starts a node. Retries if another process has taken a port that was free a moment ago. */
async function startNode(options: RedisOptions): Promise<Node> {
  for (let left = 3; ; left -= 1) {
    try {
      return await startOn(await freePort(), options);
    } catch (error) {
      if (left === 0 || !/Address already in use/.test(String(error))) throw error;
    }
  }
}

/**
 * Starts a node with its own bus port. By default, the bus port is the node's other port plus 10,000, and this port may
 * be in use or above the limit.
 */
async function startOn(busPort: number, { settings, ...options }: RedisOptions): Promise<Node> {
  const own = {
    'cluster-enabled': 'yes',
    'cluster-port': String(busPort),
    'cluster-node-timeout': '1000',
    'cluster-require-full-coverage': 'no',
    // This setting lets a replica take over even if it was cut off for long, which on a busy machine can be half a
    // minute.
    'cluster-replica-validity-factor': '0',
    // By default, a master waits five seconds for further replicas before it sends its data to a new replica.
    'repl-diskless-sync-delay': '0',
  };
  return { ...(await startRedis({ ...options, settings: { ...own, ...settings } })), busPort };
}

async function share(masters: Node[]): Promise<void> {
  const first = (index: number) => Math.ceil((index * slots) / masters.length);
  for (const [index, master] of masters.entries()) {
    const range = [String(first(index)), String(first(index + 1) - 1)];
    await ask(master, 'CLUSTER', 'ADDSLOTSRANGE', ...range);
    // Give each master its own epoch, because masters with equal epochs would first have to resolve the conflict.
    await ask(master, 'CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
  }
}

/**
 * Joins the nodes. The handshake is repeated, because a node forgets a handshake that takes longer than the node
 * timeout, and on a busy machine it may take longer.
 */
async function meet([first, ...others]: Node[]): Promise<void> {
  if (first === undefined) return;
  await eventually(async () => {
    const known = String(await ask(first, 'CLUSTER', 'NODES')).split('\n');
    const met = known.filter((line) => !line.includes('handshake'));
    const missing = others.filter(({ port }) => !met.some((line) => line.includes(`:${port}@`)));
    for (const { port, busPort } of missing) {
      await ask(first, 'CLUSTER', 'MEET', '127.0.0.1', String(port), String(busPort));
    }
    return missing.length === 0;
  });
}

async function follow(replicas: Node[], masters: Node[]): Promise<void> {
  const pairs = replicas.flatMap((replica, index) => {
    const master = masters[index];
    return master ? [{ replica, master }] : [];
  });
  await Promise.all(pairs.map(replicate));
}

async function replicate({ replica, master }: { replica: Node; master: Node }): Promise<void> {
  const id = String(await ask(master, 'CLUSTER', 'MYID'));
  // Retry, because the replica may not know the master yet.
  await eventually(async () => (await ask(replica, 'CLUSTER', 'REPLICATE', id)) === 'OK');
  await eventually(async () => {
    return String(await ask(replica, 'INFO', 'replication')).includes('master_link_status:up');
  });
}

async function isReady(node: RedisServer): Promise<void> {
  await eventually(async () => {
    const said = String(await ask(node, 'CLUSTER', 'INFO'));
    return said.includes('cluster_state:ok') && said.includes(`cluster_slots_ok:${slots}`);
  });
}

async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + patience.timeout;
  for (;;) {
    if (await isSo().catch(() => false)) return;
    if (performance.now() > end) throw new Error('The Redis Cluster did not become ready in time.');
    await delay(patience.interval);
  }
}

async function ask(node: RedisServer, command: string, ...args: string[]): Promise<unknown> {
  const connection = new Redis(node.url, { retryStrategy: () => null, maxRetriesPerRequest: 0 });
  connection.on('error', () => {
    // Ignore errors of the connection here, because the next command fails with the same error.
  });
  try {
    return await connection.call(command, ...args);
  } finally {
    connection.disconnect();
  }
}
