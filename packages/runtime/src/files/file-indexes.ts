import { BoundedMap } from '@liminal/protocol';
import { FileIndex } from './file-index.ts';
import type { Listing } from './list-files.ts';

/** How many folders' files are kept in memory. */
const foldersMax = 4;
/**
 * How long a list is reused, in ms. If the scan took longer than this, the list is reused for longer, up to half a
 * minute.
 */
const reuseMinMs = 5_000;
const reuseMaxMs = 30_000;

/** An index and the time until which it is used. */
interface TimedIndex {
  index: Promise<FileIndex>;
  /** The time until which the index is used, in ms; infinite while the folder is scanned. */
  until: number;
}

/** The files of the most recently requested folders. One scan of a folder serves all requests during it. */
export class FileIndexes {
  readonly #indexes = new BoundedMap<string, TimedIndex>(foldersMax);
  readonly #now: () => number;

  /** @param now - The current time in ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @param list - Scans the folder, if needed. */
  async of(folder: string, list: () => Promise<Listing>): Promise<FileIndex> {
    const known = this.#indexes.get(folder);
    const isFresh = known !== undefined && known.until > this.#now();
    const entry = isFresh ? known : this.#scan(folder, list);
    // Makes the folder the newest: it was requested last.
    this.#indexes.set(folder, entry);
    return entry.index;
  }

  #scan(folder: string, list: () => Promise<Listing>): TimedIndex {
    const begun = this.#now();
    const index = list().then((listing) => new FileIndex(listing));
    const entry = { index, until: Infinity };
    void this.#settle(folder, entry, begun);
    return entry;
  }

  async #settle(folder: string, entry: TimedIndex, begun: number): Promise<void> {
    try {
      await entry.index;
    } catch {
      // All callers of this scan get the error; the next caller starts a new scan.
      this.#indexes.delete(folder);
    }
    const took = this.#now() - begun;
    entry.until = this.#now() + Math.min(reuseMaxMs, Math.max(reuseMinMs, 5 * took));
  }
}
