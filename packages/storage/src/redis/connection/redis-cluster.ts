import { connect as connectSecurely, type ConnectionOptions } from 'node:tls';
import { connect } from 'node:net';
import calculateSlot from 'cluster-key-slot';
import { Cluster, Redis, type RedisOptions, AbstractConnector } from 'ioredis';
import { pauseBefore, silenceMs, type Servers, hardened } from './connections.ts';

/** How long an ended connection may take to close, ms. */
const closingMs = 2_000;

/** The options that the connections to all nodes share. */
export type NodeOptions = Pick<RedisOptions, 'username' | 'password' | 'tls'>;

/** The nodes of a Redis Cluster. Any node can be asked for the list of nodes. */
export class RedisCluster implements Servers {
  readonly isCluster = true;
  readonly #named: Address[];
  /** The nodes to ask when all connections are lost. The client reads this array each time it connects. */
  readonly #known: Address[];
  readonly #options: NodeOptions;
  readonly #cluster: Cluster;
  #trouble: Error | undefined;

  /** @param named - The nodes to begin with. */
  constructor(named: Address[], { username, password, tls }: NodeOptions) {
    this.#named = named;
    this.#known = [...named];
    this.#options = { username, password, tls };
    this.#cluster = new Cluster(this.#known, {
      lazyConnect: true,
      // Host names are not resolved to addresses, because certificates are issued for host names.
      dnsLookup: (name, give) => give(null, name),
      clusterRetryStrategy: pauseBefore,
      slotsRefreshTimeout: silenceMs.commands,
      // Use the cluster even if parts of it are down: the nodes refuse commands that they cannot run.
      enableReadyCheck: false,
      // As with one Redis, the client sends a command again only if a node refused it and named another node.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      redisOptions: {
        ...this.#options,
        disableClientInfo: true,
        connectTimeout: silenceMs.commands,
        socketTimeout: silenceMs.commands,
        // This timeout also limits commands that are redirected between nodes, or wait for a starting node.
        commandTimeout: silenceMs.commands,
      },
    });
    const remember = (error: Error) => {
      this.#trouble = error;
    };
    this.#cluster.on('error', remember).on('node error', remember);
    this.#cluster.on('refresh', () => {
      this.#known.splice(0, Infinity, ...this.#named, ...this.#nodes());
    });
  }

  get trouble(): Error | undefined {
    return this.#trouble;
  }

  /** Connects. Rejects if no node can be reached at the address that the cluster reports for the node. */
  async open(): Promise<void> {
    await this.#cluster.connect();
    await Promise.any(this.#cluster.nodes('master').map(async (node) => node.ping()));
  }

  slotOf(key: string): string {
    return String(calculateSlot(key));
  }

  connection(options: RedisOptions, key?: string): Redis {
    let last: Address | undefined;
    const where = async () => {
      // When the client reconnects, it first asks for the current masters.
      if (last) await this.#refresh();
      last = this.#masterOf(key) ?? this.#anyBut(last);
      return last;
    };
    const Connector = connectorTo(where, this.#options.tls);
    return hardened(new Redis({ ...options, ...this.#options, Connector }));
  }

  onConnectionLost(listener: () => void): void {
    this.#cluster.on('-node', listener);
  }

  async send(command: string, args: (string | number)[]): Promise<unknown> {
    // Fail now, because the client would wait for the cluster without a time limit.
    if (this.#cluster.status !== 'ready') throw new Error('No node of the cluster can be reached.');
    return this.#cluster.call(command, ...args);
  }

  close(): void {
    this.#cluster.disconnect();
  }

  async #refresh(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    // If the refresh fails, the last known slots are used until the next attempt.
    this.#cluster.refreshSlotsCache(() => resolve());
    await promise;
  }

  /** Returns the master of a key's slot; undefined if no node has the slot. */
  #masterOf(key: string | undefined): Address | undefined {
    const master = key === undefined ? undefined : this.#cluster.slots[calculateSlot(key)]?.[0];
    if (master === undefined) return undefined;
    const colon = master.lastIndexOf(':');
    return { host: master.slice(0, colon), port: Number(master.slice(colon + 1)) };
  }

  #anyBut(last: Address | undefined): Address {
    const all = [...this.#nodes(), ...this.#named];
    const others = all.filter(({ host, port }) => host !== last?.host || port !== last?.port);
    return others[Math.floor(Math.random() * others.length)] ?? this.#named[0] ?? {};
  }

  #nodes(): Address[] {
    return this.#cluster.nodes().map(({ options: { host, port } }) => ({ host, port }));
  }
}

interface Address {
  host?: string | undefined;
  port?: number | undefined;
}

/** Returns a connector for ioredis. The connector asks for the address before each attempt. `where` must not reject. */
function connectorTo(where: () => Promise<Address>, tls: ConnectionOptions | undefined) {
  return class NodeConnector extends AbstractConnector {
    constructor() {
      super(closingMs);
    }

    override async connect() {
      this.connecting = true;
      const { host = '127.0.0.1', port = 6379 } = await where();
      // The connection may have been ended in the meantime.
      if (!this.connecting) throw new Error('The connection was ended before it was established.');
      this.stream = tls ? connectSecurely({ ...tls, host, port }) : connect({ host, port });
      return this.stream;
    }
  };
}
