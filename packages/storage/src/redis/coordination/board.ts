import type { Redis } from 'ioredis';
import type { Board, BoardListener, Unsubscribe } from '../../coordination.ts';
import { isForeignKey, type Keys, type RedisLink, scripts } from '../connection/index.ts';

export class RedisBoard implements Board {
  readonly #link: RedisLink;
  readonly #keys: Keys;
  /** The listeners by pattern. */
  readonly #listeners = new Map<string, Set<BoardListener>>();
  #connection: Redis | undefined;

  constructor(link: RedisLink, keys: Keys) {
    this.#link = link;
    this.#keys = keys;
  }

  async post(name: string, text: string, ttlMs: number): Promise<void> {
    await this.#link.run(scripts.post, [this.#keys.posting(name)], [text, ttlMs]);
  }

  async read(names: readonly string[]): Promise<Map<string, string>> {
    const texts = await Promise.all(
      names.map(async (name) =>
        this.#link.call('GET', this.#keys.posting(name)).catch((error: unknown) => {
          if (!isForeignKey(error)) throw error;
        }),
      ),
    );
    return new Map(
      names.flatMap((name, index) => {
        const text = texts[index];
        return typeof text === 'string' ? [[name, text] as const] : [];
      }),
    );
  }

  async watch(prefix: string, listener: BoardListener): Promise<Unsubscribe> {
    const pattern = this.#keys.postings(prefix);
    const connection = (this.#connection ??= this.#connect());
    const listeners = this.#listeners.get(pattern) ?? new Set();
    this.#listeners.set(pattern, listeners.add(listener));
    // Subscribe even if the pattern is subscribed already, because only Redis's answer shows that the subscription is
    // active.
    await connection.psubscribe(pattern);
    return async () => {
      listeners.delete(listener);
      if (listeners.size > 0 || this.#listeners.get(pattern) !== listeners) return;
      this.#listeners.delete(pattern);
      // The command is not awaited: while Redis is unavailable, it would wait.
      connection.punsubscribe(pattern).catch(() => {});
    };
  }

  #connect(): Redis {
    const connection = this.#link.subscriber();
    connection.on('pmessage', (pattern: string, channel: string, text: string) => {
      const name = this.#keys.postedName(channel);
      if (name === undefined) return;
      for (const listener of this.#listeners.get(pattern) ?? []) listener.onPost(name, text);
    });
    let isFirst = true;
    connection.on('ready', () => {
      if (!isFirst) void this.#subscribeAgain(connection);
      isFirst = false;
    });
    return connection;
  }

  /** Renews all subscriptions, then reports the gap. */
  async #subscribeAgain(connection: Redis): Promise<void> {
    const watched = [...this.#listeners];
    if (watched.length === 0) return;
    try {
      await connection.psubscribe(...watched.map(([pattern]) => pattern));
    } catch {
      // The connection is lost again. After the next reconnect, this function runs again.
      return;
    }
    for (const [, listeners] of watched) for (const listener of listeners) listener.onGap();
  }
}
