import { randomUUID } from 'node:crypto';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import {
  blockMs,
  isForeignKey,
  isReply,
  type Keys,
  type RedisLink,
  scripts,
} from '../connection/index.ts';
import type { StreamEntry } from './rows.ts';

export interface StreamListener {
  onEntries(entries: StreamEntry[]): void;
  /** Called when a lost connection is back. */
  onReconnect?(): void;
}

interface Watched {
  /** The id of the last entry that the listener got. */
  at: string;
  listener: StreamListener;
  /** The time until which the key is not read, because it is not a stream. */
  leftOutUntil?: number;
}

/** The number of entries of one stream that are read at once. */
const pageSize = 256;
/** How long to wait after a refusal of Redis, ms. */
const retryMs = 200;
/** How long a key that is not a stream is left out, ms. */
const leftOutMs = 5_000;
/** How long the stream that wakes this reader is kept, ms. */
const wakeTtlMs = 60_000;

/**
 * Waits, on one connection, for entries of all streams that one command can read. To add further streams during a wait,
 * the reader writes an entry to its own stream, which ends the wait.
 */
export class SlotReader {
  readonly #link: RedisLink;
  readonly #connection: Redis;
  readonly #wakeKey: string;
  readonly #watched = new Map<string, Watched>();
  #wakeAt = '0-0';
  #isWaiting = false;
  /** Whether the last command failed without an answer. */
  #isDisconnected = false;
  #closed = false;

  /** @param key - One of the streams. */
  constructor(link: RedisLink, keys: Keys, key: string) {
    this.#link = link;
    this.#wakeKey = keys.wake(key, randomUUID());
    this.#connection = link.reader(key);
    void this.#read();
  }

  /** Whether there are no streams to wait for. */
  get isIdle(): boolean {
    return this.#watched.size === 0;
  }

  /**
   * Calls the listener with a stream's entries after the id `after`, until the returned function is called. A stream
   * has only one listener.
   */
  watch(key: string, after: string, listener: StreamListener): () => void {
    const watched = { at: after, listener };
    this.#watched.set(key, watched);
    this.#wake();
    return () => {
      if (this.#watched.get(key) === watched) this.#watched.delete(key);
    };
  }

  close(): void {
    this.#closed = true;
    this.#watched.clear();
    this.#link.end(this.#connection);
  }

  async #read(): Promise<void> {
    while (!this.#closed) {
      // Let the listeners run first, because the next command takes longer than their work.
      await setImmediate();
      try {
        const reply = await this.#next();
        if (this.#isDisconnected) this.#notifyReconnect();
        this.#deliver(reply);
      } catch (error) {
        if (this.#closed) return;
        if (isForeignKey(error) && (await this.#skipForeignKeys())) continue;
        this.#isDisconnected = true;
        // A server that refuses commands may have been replaced, so reconnect.
        if (isReply(error)) this.#connection.disconnect(true);
        await delay(retryMs);
      }
    }
  }

  /**
   * Reads new entries. The first read after a lost connection does not block, so that listeners soon know that Redis
   * is back.
   */
  async #next(): Promise<[string, StreamEntry[]][]> {
    const now = performance.now();
    const read = [...this.#watched].filter(([, { leftOutUntil = 0 }]) => leftOutUntil <= now);
    const keys = [this.#wakeKey, ...read.map(([key]) => key)];
    const ids = [this.#wakeAt, ...read.map(([, { at }]) => at)];
    const wait = this.#isDisconnected ? [] : ['BLOCK', blockMs];
    this.#isWaiting = true;
    try {
      const how = ['COUNT', pageSize, ...wait, 'STREAMS'];
      const reply = await this.#connection.call('XREAD', ...how, ...keys, ...ids);
      return (reply ?? []) as [string, StreamEntry[]][];
    } finally {
      this.#isWaiting = false;
    }
  }

  /**
   * Skips, for a while, keys that now contain something other than a stream, because another program has replaced them:
   * Redis refuses a read that includes such a key. The listeners of these keys check their streams again, as after a
   * lost connection. Returns whether there are such keys.
   */
  async #skipForeignKeys(): Promise<boolean> {
    const watched = [...this.#watched];
    try {
      const types = await Promise.all(watched.map(async ([key]) => this.#link.call('TYPE', key)));
      const foreign = watched.filter((_, at) => types[at] !== 'stream' && types[at] !== 'none');
      for (const [, each] of foreign) {
        each.leftOutUntil = performance.now() + leftOutMs;
        each.listener.onReconnect?.();
      }
      return foreign.length > 0;
    } catch {
      return false;
    }
  }

  #notifyReconnect(): void {
    this.#isDisconnected = false;
    for (const { listener } of this.#watched.values()) listener.onReconnect?.();
  }

  #deliver(reply: [string, StreamEntry[]][]): void {
    for (const [key, entries] of reply) {
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

  /** Ends the current wait, if the reader is waiting. Does so once for all changes of a tick. */
  #wake(): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    // The error is ignored: if waking fails, the wait has already been interrupted, or will end by itself soon.
    this.#link.run(scripts.wake, [this.#wakeKey], [wakeTtlMs]).catch(() => {});
  }
}
