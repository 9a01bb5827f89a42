import type { Keys, RedisLink } from '../connection/index.ts';
import { SlotReader, type StreamListener } from './slot-reader.ts';

/** Waits for news of any number of streams: of all on one connection, or in a cluster of those of each slot. */
export class StreamReader {
  readonly #link: RedisLink;
  readonly #keys: Keys;
  readonly #readers = new Map<string, SlotReader>();

  constructor(link: RedisLink, keys: Keys) {
    this.#link = link;
    this.#keys = keys;
  }

  /** Hands out what comes into a stream after an entry, until the given function is called. A stream has one listener. */
  watch(key: string, after: string, listener: StreamListener): () => void {
    const slot = this.#link.slotOf(key);
    const reader = this.#readers.get(slot) ?? new SlotReader(this.#link, this.#keys, key);
    this.#readers.set(slot, reader);
    const stop = reader.watch(key, after, listener);
    return () => {
      stop();
      if (this.#link.isCluster && reader.isIdle) this.#end(slot, reader);
    };
  }

  close(): void {
    for (const [slot, reader] of this.#readers) this.#end(slot, reader);
  }

  /** There are too many slots to keep a connection for each that once was waited for. */
  #end(slot: string, reader: SlotReader): void {
    reader.close();
    if (this.#readers.get(slot) === reader) this.#readers.delete(slot);
  }
}
