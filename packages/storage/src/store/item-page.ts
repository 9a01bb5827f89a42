import type { ItemPage, ResponseHead, StoredItem } from '../response-store.ts';

/** A run as a page of items sees it. */
export interface PageRun {
  head: () => ResponseHead;
  /** How many of its items lie before the page's place. */
  count: number;
  /** Its items from one index up to (not including) another. */
  items: (from: number, to: number) => StoredItem[];
}

/** The newest `limit` items of runs that come newest first; reads no more of the runs than the page needs. */
export function pageOfItems(runs: Iterable<PageRun>, limit: number): ItemPage {
  const parts: StoredItem[][] = [];
  const heads: ResponseHead[] = [];
  // Runs without items wait here until it is clear that the page reaches past them.
  let itemless: ResponseHead[] = [];
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

function pageFrom(parts: StoredItem[][], heads: ResponseHead[], hasMore: boolean): ItemPage {
  return { items: parts.toReversed().flat(), heads: heads.toReversed(), hasMore };
}
