import type { Redis, RedisOptions } from 'ioredis';

/** A connection that has a pending command and is silent for this long, in ms, is closed and opened again. */
export const silenceMs = { commands: 3_000, waiting: 5_000 };
/**
 * How long a reader's command waits in Redis for entries; less than the silence that counts as a lost connection, ms.
 */
export const blockMs = 3_000;

/** The targets of commands and of waiting readers: one Redis, or the nodes of a cluster. */
export interface Servers {
  readonly isCluster: boolean;
  /** Why a connection was last lost or refused. */
  readonly trouble: Error | undefined;
  /** Sends a command once; sends it again only if a node refused it and named another node. */
  send(command: string, args: (string | number)[]): Promise<unknown>;
  /** The name of the group of streams that one command can wait for: one slot of a cluster, or all. */
  slotOf(key: string): string;
  /** A connection that reconnects by itself: to a key's node, or to any node. */
  connection(options: RedisOptions, key?: string): Redis;
  /** Reports that a connection for commands is lost, together with its pending answers. */
  onConnectionLost(listener: () => void): void;
  close(): void;
}

/**
 * Works around two faults of ioredis 5. First, ioredis leaves the socket timer of a closed connection running, which
 * then closes the next connection (redis/ioredis issue 2147, fixed in 6). Second, an error of its parser, caused by
 * bytes that a Redis never sends, would end the process; here, such an error ends only the connection.
 */
export function hardened(connection: Redis): Redis {
  const timed = connection as unknown as { socketTimeoutTimer: NodeJS.Timeout | undefined };
  connection.on('close', () => {
    clearTimeout(timed.socketTimeoutTimer);
    timed.socketTimeoutTimer = undefined;
  });
  return connection.on('connect', () => {
    const { stream } = connection;
    for (const parse of stream.rawListeners('data')) {
      stream.off('data', parse as () => void).on('data', (bytes) => {
        try {
          parse.call(stream, bytes);
        } catch (error) {
          stream.destroy(error instanceof Error ? error : new Error(String(error)));
        }
      });
    }
  });
}

/** The wait before the next attempt, ms. */
export function pauseBefore(attempt: number): number {
  return Math.min(1_000, 25 * 2 ** attempt);
}

const waiting = {
  lazyConnect: true,
  disableClientInfo: true,
  connectTimeout: silenceMs.waiting,
  socketTimeout: silenceMs.waiting,
  retryStrategy: pauseBefore,
} satisfies RedisOptions;

/** Options for readers: a waiting command fails when its connection is lost, so that the reader notices the loss. */
export const readerOptions: RedisOptions = { ...waiting, maxRetriesPerRequest: 0 };
/** Options for subscribers: commands that are sent during a lost connection wait for the reconnect. */
export const subscriberOptions: RedisOptions = {
  ...waiting,
  maxRetriesPerRequest: null,
  autoResubscribe: false,
};
