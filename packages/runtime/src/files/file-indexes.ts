import { FileIndex } from './file-index.ts';
import type { Listing } from './list-files.ts';

/** How many folders' files are kept in memory. */
const FOLDERS_MAX = 4;
/** How long a list is reused, in ms: at least this long, and longer if the scan took longer, up to half a minute. */
const KEPT_MIN = 5_000;
const KEPT_MAX = 30_000;

/** An index and the time until which it is used. */
interface TimedIndex {
  index: Promise<FileIndex>;
  /** In ms; infinite while the folder is scanned. */
  until: number;
}

/** The files of the most recently requested folders. One scan of a folder serves all requests during it. */
export class FileIndexes {
  readonly #kept = new Map<string, TimedIndex>();
  readonly #now: () => number;

  /** @param now - The current time in ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @param list - Scans the folder, if needed. */
  async of(folder: string, list: () => Promise<Listing>): Promise<FileIndex> {
    const known = this.#kept.get(folder);
    const isFresh = known !== undefined && known.until > this.#now();
    const kept = isFresh ? known : this.#scan(folder, list);
    // Moves the folder to the end: it was requested last.
    this.#kept.delete(folder);
    this.#kept.set(folder, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > FOLDERS_MAX && oldest !== undefined) this.#kept.delete(oldest);
    return kept.index;
  }

  #scan(folder: string, list: () => Promise<Listing>): TimedIndex {
    const begun = this.#now();
    const index = list().then((listing) => new FileIndex(listing));
    const kept = { index, until: Infinity };
    void this.#settle(folder, kept, begun);
    return kept;
  }

  async #settle(folder: string, kept: TimedIndex, begun: number): Promise<void> {
    try {
      await kept.index;
    } catch {
      // All callers get the error; the next caller tries again.
      this.#kept.delete(folder);
    }
    const took = this.#now() - begun;
    kept.until = this.#now() + Math.min(KEPT_MAX, Math.max(KEPT_MIN, 5 * took));
  }
}
