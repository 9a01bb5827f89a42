/** Pages of runs that are in memory: a turn under way may be far larger than a page. */
import { type OutputItem, type Position, type Response, sizeOf } from '@liminal/protocol';

export interface PageRoom {
  items: number;
  /** About the characters of JSON; an item that is larger is a page of its own. */
  size: number;
}

export interface OpenPage {
  /** Oldest first; the first of them perhaps without its beginning. */
  runs: Response[];
  /** Where what was left out ends: before the item of that index. */
  before?: Position;
}

/** So far back a call is looked for whose result is on the page. */
const callsBack = 200;

/** Of runs, oldest first, the newest items that fit on one page; those that are not in memory are taken as they are. */
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

/** What comes before a place in runs that are in memory, oldest first; none where it is in none of them. */
export function runsBefore(runs: readonly Response[], { runId, seq }: Position): Response[] {
  const at = runs.findIndex(({ id }) => id === runId);
  const own = runs[at];
  if (own === undefined) return [];
  return [...runs.slice(0, at), { ...own, outputItems: own.outputItems.slice(0, seq) }];
}

/** Further back, where a result would lose its call. */
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
