import { Redis, type RedisOptions } from 'ioredis';
import { pauseBefore, silenceMs, type Servers, hardened } from './connections.ts';

/** One Redis: either a single server, or an address that always leads to the current primary. */
export class OneRedis implements Servers {
  readonly isCluster = false;
  readonly #url: string;
  readonly #commands: Redis;
  #trouble: Error | undefined;
  #isCorked = false;

  constructor(url: string) {
    this.#url = url;
    this.#commands = new Redis(url, {
      lazyConnect: true,
      disableClientInfo: true,
      connectTimeout: silenceMs.commands,
      socketTimeout: silenceMs.commands,
      retryStrategy: pauseBefore,
      // The client does not send commands again, because only the caller knows whether a command can safely be
      // repeated.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
    });
    hardened(this.#commands);
    // A failing command reports the problem. The connection itself reconnects when possible.
    this.#commands.on('error', (error) => {
      this.#trouble = error;
    });
  }

  get trouble(): Error | undefined {
    return this.#trouble;
  }

  /** The connection's options, from the URL, with defaults. */
  get options(): RedisOptions {
    return this.#commands.options;
  }

  async open(): Promise<void> {
    await this.#commands.connect();
    // Redis may still refuse a connection that is open, so wait for an answer.
    await this.#commands.ping();
  }

  slotOf(): string {
    return '';
  }

  connection(options: RedisOptions): Redis {
    return hardened(new Redis(this.#url, options));
  }

  onConnectionLost(listener: () => void): void {
    this.#commands.on('close', listener);
  }

  /** Sends the first command of a tick at once; later commands are held back until the end of the tick. */
  send(command: string, args: (string | number)[]): Promise<unknown> {
    const answer = this.#commands.call(command, ...args);
    if (!this.#isCorked && this.#commands.status === 'ready') this.#cork(this.#commands.stream);
    return answer;
  }

  close(): void {
    this.#commands.disconnect();
  }

  #cork(stream: Redis['stream']): void {
    this.#isCorked = true;
    stream.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      stream.uncork();
    });
  }
}
