import { Redis } from 'ioredis';
import { StorageError } from '../errors.ts';
import type { Script } from './scripts.ts';

/** How long a command may take before its outcome counts as unknown, ms. */
const COMMAND_MS = 3_000;
/** A connection that stays silent for so long while something is awaited is cut and made anew, ms. */
const SILENCE_MS = 5_000;
/** How long a reader's command waits in Redis for news; less than the silence that counts as a cut, ms. */
export const BLOCK_MS = 3_000;

type Purpose = 'commands' | 'waiting';

/** The connections of one server to its Redis. Those for waiting come back by themselves and say so. */
export class RedisLink {
  readonly #connect: (purpose: Purpose) => Redis;
  readonly #commands: Redis;
  readonly #waiting = new Set<Redis>();

  private constructor(connect: (purpose: Purpose) => Redis) {
    this.#connect = connect;
    this.#commands = connect('commands');
  }

  /** Throws StorageError `REDIS_UNAVAILABLE` if there is no Redis to begin with. */
  static async open(url: string): Promise<RedisLink> {
    const link = new RedisLink((purpose) => {
      // What is wrong is said by the commands that fail; the connection itself comes back when it can.
      return new Redis(url, optionsFor(purpose)).on('error', () => {});
    });
    try {
      await link.#commands.connect();
      return link;
    } catch (cause) {
      link.close();
      throw unavailable(cause);
    }
  }

  /** A connection of its own, for commands that wait. */
  waiting(): Redis {
    const connection = this.#connect('waiting');
    this.#waiting.add(connection);
    connection.connect().catch(() => {
      // It tries again by itself.
    });
    return connection;
  }

  /** Runs a command; commands given in one tick travel together. Throws StorageError `REDIS_UNAVAILABLE`. */
  async call(command: string, ...args: (string | number)[]): Promise<unknown> {
    try {
      return await this.#commands.call(command, ...args);
    } catch (cause) {
      throw unavailable(cause);
    }
  }

  /** Runs a script, which Redis may have forgotten with a restart. */
  async run(script: Script, keys: string[], args: (string | number)[]): Promise<unknown> {
    const rest = [keys.length, ...keys, ...args];
    try {
      return await this.#commands.call('EVALSHA', script.sha, ...rest);
    } catch (cause) {
      if (!isReply(cause, 'NOSCRIPT')) throw unavailable(cause);
      return this.call('EVAL', script.lua, ...rest);
    }
  }

  close(): void {
    for (const connection of [this.#commands, ...this.#waiting]) connection.disconnect();
  }
}

function optionsFor(purpose: Purpose) {
  const shared = {
    lazyConnect: true,
    // Simpler, and the same on every server since Redis 6.2.
    protocol: 2 as const,
    disableClientInfo: true,
    connectTimeout: SILENCE_MS,
    socketTimeout: SILENCE_MS,
    retryStrategy: (times: number) => Math.min(1_000, 25 * 2 ** times),
  };
  // Nothing is sent again by the client: only whoever gave the command knows whether that is right.
  if (purpose === 'commands') {
    return {
      ...shared,
      commandTimeout: COMMAND_MS,
      enableAutoPipelining: true,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
    };
  }
  return { ...shared, maxRetriesPerRequest: null, autoResubscribe: false };
}

/** Whether Redis itself refused a command with that word. */
export function isReply(error: unknown, word: string): boolean {
  const cause = error instanceof StorageError ? error.cause : error;
  return cause instanceof Error && cause.message.startsWith(word);
}

function unavailable(cause: unknown): StorageError {
  const said = cause instanceof Error ? cause.message : String(cause);
  return new StorageError(
    'REDIS_UNAVAILABLE',
    `Redis does not do its work: ${said}. See that it runs and can be reached at the configured URL.`,
    { cause },
  );
}
