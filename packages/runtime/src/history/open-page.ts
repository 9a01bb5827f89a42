/** Pages of runs that are in memory: a turn under way may be far larger than a page. */
import { type OutputItem, type Position, type Response, sizeOf } from '@liminal/protocol';

export interface PageRoom {
  items: number;
  /** About the characters of JSON; a larger item is a page of its own. */
  size: number;
}

export interface OpenPage {
  /** Oldest first; the first may lack its beginning. */
  runs: Response[];
  /** What was left out ends before the item of this index. */
  before?: Position;
}

/** How many items back to look for the call of a result on the page. */
const callsBack = 200;

/** The newest items of runs, oldest first, that fit on one page; runs that are not in memory are taken whole. */
export function newestThatFit(
  runs: readonly Response[],
  isInMemory: (run: Response) => boolean,
  room: PageRoom,
): OpenPage {
  let { items, size } = room;
  for (let at = runs.length - 1; at >= 0; at -= 1) {
    const run = runs[at];
    if (run === undefined || !isInMemory(run)) continue;
    const { outputItems } = run;
    let from = outputItems.length;
    while (from > 0 && items > 0) {
      size -= sizeOf(outputItems[from - 1], room.size);
      if (size < 0 && items < room.items) break;
      items -= 1;
      from -= 1;
    }
    if (from === 0) continue;
    from = withCalls(outputItems, from);
    const cut = { ...run, outputItems: outputItems.slice(from) };
    return { runs: [cut, ...runs.slice(at + 1)], before: { runId: run.id, seq: from } };
  }
  return { runs: [...runs] };
}

/** What comes before a place in runs in memory, oldest first; none if they do not have the place's run. */
export function runsBefore(runs: readonly Response[], { runId, seq }: Position): Response[] {
  const at = runs.findIndex(({ id }) => id === runId);
  const own = runs[at];
  if (own === undefined) return [];
  return [...runs.slice(0, at), { ...own, outputItems: own.outputItems.slice(0, seq) }];
}

/** Moves the start back to a call whose result is on the page. */
function withCalls(items: readonly OutputItem[], from: number): number {
  const results = new Set(
    items.slice(from).flatMap((item) => (item.type === 'function_call_output' ? item.callId : [])),
  );
  const least = Math.max(0, from - callsBack);
  const first = items
    .slice(least, from)
    .findIndex((item) => item.type === 'function_call' && results.has(item.callId));
  return first === -1 ? from : least + first;
}
