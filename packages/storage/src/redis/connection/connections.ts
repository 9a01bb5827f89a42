import type { Redis, RedisOptions } from 'ioredis';

/** A connection with a pending command that is silent for this long is cut and made again, ms. */
export const SILENCE_MS = { commands: 3_000, waiting: 5_000 };
/** How long a reader's command waits in Redis for news; less than the silence that counts as a cut, ms. */
export const BLOCK_MS = 3_000;

/** The targets of commands and of waiting readers: one Redis, or the nodes of a cluster. */
export interface Servers {
  readonly isCluster: boolean;
  /** Why a connection was last cut or refused. */
  readonly trouble: Error | undefined;
  /** Runs a command once, unless a node refused it with another node's address. */
  send(command: string, args: (string | number)[]): Promise<unknown>;
  /** Names the group of streams that one command can wait for: one slot of a cluster, or all. */
  slotOf(key: string): string;
  /** A connection that reconnects by itself: to a key's node, or to any. */
  connection(options: RedisOptions, key?: string): Redis;
  /** Reports that a connection for commands is gone, and with it the pending answers. */
  onCut(listener: () => void): void;
  close(): void;
}

/**
 * Works around two faults of ioredis 5. It leaves the socket timer of a closed connection running, which then cuts the
 * next one (redis/ioredis issue 2147, mended in 6). And an error that its parser throws, at bytes that no Redis sends,
 * would end the process: it ends the connection instead.
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

/** How long until the next attempt, ms. */
export function pauseBefore(attempt: number): number {
  return Math.min(1_000, 25 * 2 ** attempt);
}

const waiting = {
  lazyConnect: true,
  disableClientInfo: true,
  connectTimeout: SILENCE_MS.waiting,
  socketTimeout: SILENCE_MS.waiting,
  retryStrategy: pauseBefore,
} satisfies RedisOptions;

/** A wait fails with its connection, so that its reader notices. */
export const readerOptions: RedisOptions = { ...waiting, maxRetriesPerRequest: 0 };
/** Commands given while it is cut are sent when it is back. */
export const subscriberOptions: RedisOptions = {
  ...waiting,
  maxRetriesPerRequest: null,
  autoResubscribe: false,
};
