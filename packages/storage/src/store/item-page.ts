import type { ResponseHead, StoredItem } from '../response-store.ts';

/** A run as a page of items sees it. */
export interface PageRun<Head = ResponseHead, Item = StoredItem> {
  head: () => Head;
  /** How many of its items lie before the page's place. */
  count: number;
  /** Its items from one index up to (not including) another. */
  items: (from: number, to: number) => Item[];
}

interface Page<Head, Item> {
  items: Item[];
  heads: Head[];
  hasMore: boolean;
}

/** The newest `limit` items of runs that come newest first; reads no more of the runs than the page needs. */
export function pageOfItems<Head, Item>(
  runs: Iterable<PageRun<Head, Item>>,
  limit: number,
): Page<Head, Item> {
  const parts: Item[][] = [];
  const heads: Head[] = [];
  // Runs without items wait here until it is clear that the page reaches past them.
  let itemless: Head[] = [];
  let room = limit;
  for (const run of runs) {
    if (run.count === 0) {
      itemless.push(run.head());
      continue;
    }
    if (room === 0) return pageFrom(parts, heads, true);
    const from = Math.max(0, run.count - room);
    parts.push(run.items(from, run.count));
    heads.push(...itemless, run.head());
    itemless = [];
    room -= run.count - from;
    if (from > 0) return pageFrom(parts, heads, true);
  }
  return pageFrom(parts, [...heads, ...itemless], false);
}

function pageFrom<Head, Item>(parts: Item[][], heads: Head[], hasMore: boolean): Page<Head, Item> {
  return { items: parts.toReversed().flat(), heads: heads.toReversed(), hasMore };
}
