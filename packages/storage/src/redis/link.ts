import { Redis, ReplyError } from 'ioredis';
import { StorageError } from '../errors.ts';
import type { Script } from './scripts.ts';

/** A connection that stays silent for so long while something is awaited is cut and made anew, ms. */
const SILENCE_MS = { commands: 3_000, waiting: 5_000 };
/** How long a reader's command waits in Redis for news; less than the silence that counts as a cut, ms. */
export const BLOCK_MS = 3_000;

type Purpose = 'commands' | 'waiting';

/** The connections of one server to its Redis. Those for waiting come back by themselves and say so. */
export class RedisLink {
  readonly #connect: (purpose: Purpose) => Redis;
  readonly #commands: Redis;
  readonly #waiting = new Set<Redis>();
  /** Why the connection was last cut or could not be made. */
  #trouble: Error | undefined;
  #isCorked = false;

  private constructor(connect: (purpose: Purpose) => Redis) {
    this.#connect = connect;
    this.#commands = connect('commands');
    // What is wrong is said by the commands that fail; the connection itself comes back when it can.
    this.#commands.on('error', (error) => {
      this.#trouble = error;
    });
  }

  /** Throws StorageError `REDIS_UNAVAILABLE` if there is no Redis to begin with. */
  static async open(url: string): Promise<RedisLink> {
    const link = new RedisLink((purpose) => new Redis(url, optionsFor(purpose)));
    try {
      await link.#commands.connect();
      // A connection that Redis has opened is not yet one that it serves.
      await link.#commands.ping();
      return link;
    } catch (cause) {
      link.close();
      throw link.#unavailable(cause);
    }
  }

  /** A connection of its own, for commands that wait. */
  waiting(): Redis {
    const connection = this.#connect('waiting');
    this.#waiting.add(connection);
    connection.on('error', () => {
      // It comes back by itself, as do the commands that it carries.
    });
    connection.connect().catch(() => {});
    return connection;
  }

  /** Tells that the connection for commands is gone, and with it the answers that were awaited. */
  onCut(listener: () => void): void {
    this.#commands.on('close', listener);
  }

  /** Runs a command; those given in one tick travel together. Throws StorageError `REDIS_UNAVAILABLE`. */
  async call(command: string, ...args: (string | number)[]): Promise<unknown> {
    try {
      return await this.#send(command, args);
    } catch (cause) {
      throw this.#unavailable(cause);
    }
  }

  /** Runs a script, which Redis may have forgotten with a restart. */
  async run(script: Script, keys: string[], args: (string | number)[]): Promise<unknown> {
    const rest = [keys.length, ...keys, ...args];
    try {
      return await this.#send('EVALSHA', [script.sha, ...rest]);
    } catch (cause) {
      if (!isReply(cause, 'NOSCRIPT')) throw this.#unavailable(cause);
      return this.call('EVAL', script.lua, ...rest);
    }
  }

  close(): void {
    for (const connection of [this.#commands, ...this.#waiting]) connection.disconnect();
  }

  /** What comes first in a tick goes at once; what comes after it is held back until the tick has run its course. */
  #send(command: string, args: (string | number)[]): Promise<unknown> {
    const answer = this.#commands.call(command, ...args);
    if (!this.#isCorked && this.#commands.status === 'ready') this.#cork(this.#commands.stream);
    return answer;
  }

  #cork(stream: Redis['stream']): void {
    this.#isCorked = true;
    stream.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      stream.uncork();
    });
  }

  #unavailable(cause: unknown): StorageError {
    const isOurs = cause instanceof ReplyError || this.#trouble === undefined;
    const said = String(isOurs ? cause : this.#trouble);
    return new StorageError(
      'REDIS_UNAVAILABLE',
      `Redis does not do its work (${said}). See that it runs and can be reached at the configured URL.`,
      { cause },
    );
  }
}

function optionsFor(purpose: Purpose) {
  const shared = {
    lazyConnect: true,
    disableClientInfo: true,
    connectTimeout: SILENCE_MS[purpose],
    socketTimeout: SILENCE_MS[purpose],
    retryStrategy: (times: number) => Math.min(1_000, 25 * 2 ** times),
  };
  // Nothing is sent again by the client: only whoever gave the command knows whether that is right.
  if (purpose === 'commands') {
    return {
      ...shared,
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
