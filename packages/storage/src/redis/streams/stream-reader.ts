import type { Keys, RedisLink } from '../connection/index.ts';
import { SlotReader, type StreamListener } from './slot-reader.ts';

/** Waits for entries of any number of streams. Uses one connection; in a cluster, one connection per slot. */
export class StreamReader {
  readonly #link: RedisLink;
  readonly #keys: Keys;
  readonly #readers = new Map<string, SlotReader>();

  constructor(link: RedisLink, keys: Keys) {
    this.#link = link;
    this.#keys = keys;
  }

  /**
   * Calls the listener with a stream's entries after the id `after`, until the returned function is called. A stream
   * has only one listener.
   */
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

  /** Ends the connection of an idle slot, because a connection for each slot would be too many. */
  #end(slot: string, reader: SlotReader): void {
    reader.close();
    if (this.#readers.get(slot) === reader) this.#readers.delete(slot);
  }
}
