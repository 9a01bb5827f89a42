import { Redis, type RedisOptions } from 'ioredis';
import { pauseBefore, SILENCE_MS, type Servers, timedByItself } from './connections.ts';

/** One Redis, alone or behind an address that leads to the one of several that is to be asked. */
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
      connectTimeout: SILENCE_MS.commands,
      socketTimeout: SILENCE_MS.commands,
      retryStrategy: pauseBefore,
      // Nothing is sent again by the client: only whoever gave the command knows whether that is right.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
    });
    timedByItself(this.#commands);
    // What is wrong is said by the commands that fail; the connection itself comes back when it can.
    this.#commands.on('error', (error) => {
      this.#trouble = error;
    });
  }

  get trouble(): Error | undefined {
    return this.#trouble;
  }

  /** What the URL says, and what holds where it says nothing. */
  get options(): RedisOptions {
    return this.#commands.options;
  }

  async open(): Promise<void> {
    await this.#commands.connect();
    // A connection that Redis has opened is not yet one that it serves.
    await this.#commands.ping();
  }

  slotOf(): string {
    return '';
  }

  connection(options: RedisOptions): Redis {
    return timedByItself(new Redis(this.#url, options));
  }

  onCut(listener: () => void): void {
    this.#commands.on('close', listener);
  }

  /** What comes first in a tick goes at once; what comes after it is held back until the tick has run its course. */
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
