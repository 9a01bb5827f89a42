import type { ResponseHead, StoredItem } from '../response-store.ts';

/** A run as part of a page of items. */
export interface PageRun<Head = ResponseHead, Item = StoredItem> {
  head: () => Head;
  /** The number of the run's items that are before the position of the page. */
  count: number;
  /** The run's items from one index up to (not including) another. */
  items: (from: number, to: number) => Item[];
  /**
   * The sizes of the run's items in this range (bytes of JSON), newest first and read lazily; used only if the page
   * has a size limit.
   */
  sizes: (from: number, to: number) => Iterable<number>;
}

interface Page<Head, Item> {
  items: Item[];
  heads: Head[];
  hasMore: boolean;
}

/** The remaining room of a page. */
class Room {
  #items: number;
  #bytes: number;
  #isEmpty = true;

  constructor(items: number, bytes: number) {
    this.#items = items;
    this.#bytes = bytes;
  }

  /** Returns the index from which a run's items fit; the very first item always fits. */
  from<Head, Item>(run: PageRun<Head, Item>): number {
    const least = Math.max(0, run.count - this.#items);
    const from = this.#bytes === Infinity ? least : this.#fromBySize(run, least);
    this.#items -= run.count - from;
    if (from < run.count) this.#isEmpty = false;
    return from;
  }

  #fromBySize<Head, Item>(run: PageRun<Head, Item>, least: number): number {
    let from = run.count;
    for (const size of run.sizes(least, run.count)) {
      this.#bytes -= size;
      if (this.#bytes < 0 && !(this.#isEmpty && from === run.count)) return from;
      from -= 1;
    }
    return from;
  }
}

/** Returns how many elements, from an index on, fit into `room` by their sizes. The first element always fits. */
export function fittingCount(sizes: readonly number[], room: number, from = 0): number {
  let left = room;
  let to = from;
  while (to < sizes.length && ((left -= sizes[to] ?? 0) >= 0 || to === from)) to += 1;
  return to - from;
}

/**
 * Yields all elements in order, in batches. A batch has at most `count` elements and at most `size` in total, but at
 * least one element.
 */
export function* fittingBatches<T>(
  things: readonly T[],
  sizeOf: (thing: T) => number,
  { count = Infinity, size }: { count?: number; size: number },
): Generator<T[]> {
  const sizes = things.map(sizeOf);
  for (let from = 0; from < things.length;) {
    const to = from + Math.min(count, fittingCount(sizes, size, from));
    yield things.slice(from, to);
    from = to;
  }
}

/**
 * Returns a page of the newest items that fit. `runs` are newest first; only as many runs are read as the page needs.
 */
export function pageOfItems<Head, Item>(
  runs: Iterable<PageRun<Head, Item>>,
  { limit, size = Infinity }: { limit: number; size?: number | undefined },
): Page<Head, Item> {
  const parts: Item[][] = [];
  const heads: Head[] = [];
  // Runs without items wait here. They belong to this page only if the page has older items.
  let itemless: Head[] = [];
  const room = new Room(limit, size);
  for (const run of runs) {
    if (run.count === 0) {
      itemless.push(run.head());
      continue;
    }
    const from = room.from(run);
    if (from === run.count) return pageFrom(parts, heads, true);
    parts.push(run.items(from, run.count));
    heads.push(...itemless, run.head());
    itemless = [];
    if (from > 0) return pageFrom(parts, heads, true);
  }
  return pageFrom(parts, [...heads, ...itemless], false);
}

function pageFrom<Head, Item>(parts: Item[][], heads: Head[], hasMore: boolean): Page<Head, Item> {
  return { items: parts.toReversed().flat(), heads: heads.toReversed(), hasMore };
}
