import type { Redis } from 'ioredis';
import { blockMs, readerOptions, type Servers, subscriberOptions } from './connections.ts';
import { isReply, unavailable } from './failures.ts';
import { findServers } from './find-servers.ts';
import type { Script } from './scripts.ts';

/** The connections of one server to its Redis. Connections for waiting reconnect by themselves. */
export class RedisLink {
  readonly #servers: Servers;
  /**
   * Connections for waiting commands. Each connection has a timer that pings Redis if the connection has no other
   * traffic.
   */
  readonly #waiting = new Map<Redis, NodeJS.Timeout | undefined>();

  private constructor(servers: Servers) {
    this.#servers = servers;
  }

  /**
   * @param urls - One Redis, or nodes of a cluster separated by commas, of which one must answer. Throws StorageError
   * `REDIS_UNAVAILABLE` if no Redis answers.
   */
  static async open(urls: string): Promise<RedisLink> {
    return new RedisLink(await findServers(urls));
  }

  /** Whether two slots may be on different servers. Each of these servers may fail or lag separately. */
  get isCluster(): boolean {
    return this.#servers.isCluster;
  }

  /** The name of the group of streams that one command can wait for: one slot of a cluster, or all. */
  slotOf(key: string): string {
    return this.#servers.slotOf(key);
  }

  /**
   * Returns a connection for commands that wait for entries in a key's slot; the commands fail when the connection is
   * lost.
   */
  reader(key: string): Redis {
    const connection = this.#servers.connection(readerOptions, key);
    this.#begin(connection);
    return connection;
  }

  /** A connection for subscriptions. After a reconnect, the subscriptions must be made again. */
  subscriber(): Redis {
    const connection = this.#servers.connection(subscriberOptions);
    const ask = () => {
      if (connection.status === 'ready') connection.ping().catch(() => {});
    };
    this.#begin(connection, setInterval(ask, blockMs).unref());
    return connection;
  }

  /** Ends a connection for waiting. */
  end(connection: Redis): void {
    clearInterval(this.#waiting.get(connection));
    this.#waiting.delete(connection);
    connection.disconnect();
  }

  /** Reports that a connection for commands is lost. The answers that it was waiting for are lost as well. */
  onConnectionLost(listener: () => void): void {
    this.#servers.onConnectionLost(listener);
  }

  /** Runs a command. Commands of the same tick are sent together. Throws StorageError `REDIS_UNAVAILABLE`. */
  async call(command: string, ...args: (string | number)[]): Promise<unknown> {
    try {
      return await this.#servers.send(command, args);
    } catch (cause) {
      throw unavailable(cause, this.#servers.trouble);
    }
  }

  /** Runs a script. If Redis has lost the script because it was restarted, sends the script again. */
  async run(script: Script, keys: string[], args: (string | number)[]): Promise<unknown> {
    const rest = [keys.length, ...keys, ...args];
    try {
      return await this.#servers.send('EVALSHA', [script.sha, ...rest]);
    } catch (cause) {
      if (!isReply(cause, 'NOSCRIPT')) throw unavailable(cause, this.#servers.trouble);
      return this.call('EVAL', script.lua, ...rest);
    }
  }

  close(): void {
    for (const connection of this.#waiting.keys()) this.end(connection);
    this.#servers.close();
  }

  #begin(connection: Redis, timer?: NodeJS.Timeout): void {
    this.#waiting.set(connection, timer);
    connection.on('error', () => {
      // The connection reconnects by itself.
    });
    connection.connect().catch(() => {});
  }
}
