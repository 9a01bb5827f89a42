import { randomUUID } from 'node:crypto';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Keys } from './keys.ts';
import type { RedisLink } from './link.ts';
import { BLOCK_MS } from './link.ts';
import type { StreamEntry } from './rows.ts';
import { scripts } from './scripts.ts';

export interface StreamListener {
  onEntries(entries: StreamEntry[]): void;
  /** The connection was cut, and is back. */
  onBack?(): void;
}

interface Watched {
  /** The id of the last entry that was handed out. */
  at: string;
  listener: StreamListener;
}

/** Entries of one stream that are taken at once. */
const PAGE = 256;
/** How long to wait before Redis is asked again after it refused, ms. */
const RETRY_MS = 200;
/** How long the stream stays that wakes this reader, ms. */
const WAKE_TTL_MS = 60_000;

/**
 * Waits on one connection for news of any number of streams. One stream more is its own: an entry there ends the wait,
 * so that others can be waited for.
 */
export class StreamReader {
  readonly #link: RedisLink;
  readonly #keys: Keys;
  readonly #name = randomUUID();
  readonly #watched = new Map<string, Watched>();
  #isReading = false;
  #wakeAt = '0-0';
  #isWaiting = false;
  #closed = false;

  constructor(link: RedisLink, keys: Keys) {
    this.#link = link;
    this.#keys = keys;
  }

  /** Hands out what comes into a stream after an entry, until the given function is called. A stream has one listener. */
  watch(key: string, after: string, listener: StreamListener): () => void {
    const watched = { at: after, listener };
    this.#watched.set(key, watched);
    if (!this.#isReading) this.#start();
    this.#wake();
    return () => {
      if (this.#watched.get(key) === watched) this.#watched.delete(key);
    };
  }

  close(): void {
    this.#closed = true;
    this.#watched.clear();
  }

  #start(): void {
    this.#isReading = true;
    const connection = this.#link.waiting();
    let isFirst = true;
    connection.on('ready', () => {
      if (!isFirst) for (const { listener } of this.#watched.values()) listener.onBack?.();
      isFirst = false;
    });
    void this.#read(connection);
  }

  async #read(connection: Redis): Promise<void> {
    while (!this.#closed) {
      // Whoever was given something goes first: writing to Redis takes longer than that.
      await setImmediate();
      this.#isWaiting = true;
      try {
        this.#handOut(await this.#next(connection));
      } catch {
        if (!this.#closed) await delay(RETRY_MS);
      } finally {
        this.#isWaiting = false;
      }
    }
  }

  async #next(connection: Redis): Promise<[string, StreamEntry[]][]> {
    const keys = [this.#wakeKey, ...this.#watched.keys()];
    const ids = [this.#wakeAt, ...Array.from(this.#watched.values(), ({ at }) => at)];
    const how = ['COUNT', PAGE, 'BLOCK', BLOCK_MS, 'STREAMS'];
    const news = await connection.call('XREAD', ...how, ...keys, ...ids);
    return (news ?? []) as [string, StreamEntry[]][];
  }

  #handOut(news: [string, StreamEntry[]][]): void {
    for (const [key, entries] of news) {
      const last = entries.at(-1)?.[0];
      if (last === undefined) continue;
      const watched = this.#watched.get(key);
      if (key === this.#wakeKey) this.#wakeAt = last;
      else if (watched) {
        watched.at = last;
        watched.listener.onEntries(entries);
      }
    }
  }

  get #wakeKey(): string {
    return this.#keys.wake(this.#keys.runs, this.#name);
  }

  /** Ends the wait that is under way, if there is one: once for all that changes in a tick. */
  #wake(): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    // Where that fails the wait has been cut, or ends by itself soon.
    this.#link.run(scripts.wake, [this.#wakeKey], [WAKE_TTL_MS]).catch(() => {});
  }
}
