import type { Redis, RedisOptions } from 'ioredis';

/** A connection is closed and opened again if it has a pending command and has been silent for this long, in ms. */
export const silenceMs = { commands: 3_000, waiting: 5_000 };
/**
 * How long a reader's command waits in Redis for entries, in ms. The time must be shorter than the silence after which
 * a connection counts as lost.
 */
export const blockMs = 3_000;

/** The servers to which commands and waiting readers connect: one Redis, or the nodes of a cluster. */
export interface Servers {
  readonly isCluster: boolean;
  /** The reason why a connection was last lost or refused. */
  readonly trouble: Error | undefined;
  /** Sends a command once. Sends it again only if a node refused the command and named another node. */
  send(command: string, args: (string | number)[]): Promise<unknown>;
  /** The name of the group of streams that one command can wait for: one slot of a cluster, or all. */
  slotOf(key: string): string;
  /** Opens a connection that reconnects by itself: to the node of a key, or to any node. */
  connection(options: RedisOptions, key?: string): Redis;
  /** Reports that a connection for commands is lost. The answers that it was waiting for are lost as well. */
  onConnectionLost(listener: () => void): void;
  close(): void;
}

/**
 * Works around two faults of ioredis 5. First, ioredis leaves the socket timer of a closed connection running; this
 * timer then closes the next connection (redis/ioredis issue 2147, fixed in 6). Second, bytes that a Redis never sends
 * would cause an error in the parser of ioredis, and the error would end the process; with this code, such an error
 * ends only the connection.
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

/** Returns the wait before the next attempt, ms. */
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
