import type { Redis, RedisOptions } from 'ioredis';

/** A connection that stays silent for so long while something is awaited is cut and made anew, ms. */
export const SILENCE_MS = { commands: 3_000, waiting: 5_000 };
/** How long a reader's command waits in Redis for news; less than the silence that counts as a cut, ms. */
export const BLOCK_MS = 3_000;

/** Where commands go, and those who wait: one Redis, or the nodes of a cluster. */
export interface Servers {
  readonly isCluster: boolean;
  /** Why a connection was last cut or could not be made. */
  readonly trouble: Error | undefined;
  /** Runs a command once, unless it was refused with the address of the node to ask instead. */
  send(command: string, args: (string | number)[]): Promise<unknown>;
  /** Names the streams that one command can wait for: those of one slot of a cluster, else all. */
  slotOf(key: string): string;
  /** A connection that comes back by itself: to where a key is, or anywhere. */
  connection(options: RedisOptions, key?: string): Redis;
  /** Tells that a connection for commands is gone, and with it the answers that were awaited. */
  onCut(listener: () => void): void;
  close(): void;
}

/**
 * Lets a connection's silence be its own: ioredis 5 leaves the timer of one that was cut running, and that then cuts the
 * next (redis/ioredis issue 2147, mended in 6).
 */
export function timedByItself(connection: Redis): Redis {
  const timed = connection as unknown as { socketTimeoutTimer: NodeJS.Timeout | undefined };
  return connection.on('close', () => {
    clearTimeout(timed.socketTimeoutTimer);
    timed.socketTimeoutTimer = undefined;
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

/** Where a wait fails with its connection, its reader is to know. */
export const readerOptions: RedisOptions = { ...waiting, maxRetriesPerRequest: 0 };
/** What is asked meanwhile is sent when the connection is back. */
export const subscriberOptions: RedisOptions = {
  ...waiting,
  maxRetriesPerRequest: null,
  autoResubscribe: false,
};
