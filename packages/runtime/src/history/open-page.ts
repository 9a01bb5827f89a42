/** Pages of runs that are in memory: a running turn may be far larger than a page. */
import { type Position, type Response, sizeOf } from '@liminal/protocol';
import { type RunPage, pageOfRun } from './page-calls.ts';

export interface PageRoom {
  items: number;
  /** The approximate number of characters of JSON; a larger item is a page of its own. */
  size: number;
}

export interface OpenPage {
  /** Oldest first; the first run may lack its beginning. */
  runs: Response[];
  /** The position of the first item on the page; set if earlier items were left out. */
  before?: Position;
  earlier?: RunPage['earlier'];
}

/**
 * Returns the newest items of runs, oldest first, that fit on one page. `inMemory` are the complete runs in memory; the
 * last of `runs` may contain only its first items. Runs from the store (those not in `inMemory`) are always included
 * completely.
 */
export function newestPage(
  runs: readonly Response[],
  inMemory: readonly Response[],
  room: PageRoom,
): OpenPage {
  let { items, size } = room;
  const newer: Response[] = [];
  for (const run of runs.toReversed()) {
    const complete = inMemory.find(({ id }) => id === run.id);
    if (complete === undefined) {
      newer.unshift(run);
      continue;
    }
    const to = run.outputItems.length;
    let from = to;
    while (from > 0 && items > 0) {
      size -= sizeOf(run.outputItems[from - 1], room.size);
      if (size < 0 && items < room.items) break;
      items -= 1;
      from -= 1;
    }
    const isWhole = from === 0 && to === complete.outputItems.length;
    const page = isWhole ? undefined : pageOfRun(complete, withIndexes(complete), { from, to });
    if (page && page.size > room.size && room.items > 1 && to - from > 1) {
      return newestPage(runs, inMemory, { ...room, items: Math.ceil((to - from) / 2) });
    }
    newer.unshift(page ? { ...run, outputItems: page.items } : run);
    if (page && from > 0) {
      return { runs: newer, before: { runId: run.id, seq: from }, earlier: page.earlier };
    }
  }
  return { runs: newer };
}

/**
 * Returns the runs in memory up to a position, oldest first, with only the items before the position. Returns no runs
 * if the position's run is not in memory.
 */
export function runsBefore(runs: readonly Response[], { runId, seq }: Position): Response[] {
  const at = runs.findIndex(({ id }) => id === runId);
  const own = runs[at];
  if (own === undefined) return [];
  return [...runs.slice(0, at), { ...own, outputItems: own.outputItems.slice(0, seq) }];
}

const withIndexes = ({ outputItems }: Response) =>
  outputItems.map((item, index) => ({ item, index }));
