/**
 * Builds a page of a run's items, together with the calls and answers outside the page that belong to these items. A
 * call, its answer and the items that the call has begun may be far apart.
 */
import {
  callKeyOf,
  callKeysOf,
  isAnswer,
  isCall,
  type OutputItem,
  progressOf,
  type Response,
  sizeOf,
  viewsOf,
} from '@liminal/protocol';

/** An item and its position in its run. */
export interface PlacedItem {
  index: number;
  item: OutputItem;
}

/** A page of one run: the items from index `from` up to (not including) `to`. */
export interface PageEdges {
  from: number;
  to: number;
}

export interface RunPage {
  /** The items of the run that the page shows, in order; includes calls and answers from outside the page. */
  items: OutputItem[];
  /** The positions of those `items` that come before the page in the run, in order. */
  earlier: { itemId: string; index: number }[];
  /** The approximate number of characters of JSON of the calls and answers that were added from outside the page. */
  size: number;
}

/**
 * The keys of calls to look up before the page (`before`) and after the page (`from`): items there may belong to the
 * page.
 */
export interface OutsideCallKeys {
  before: Set<string>;
  from: Set<string>;
}

/**
 * Returns the keys to look up outside the page, for all items known so far: the items of the page, and the items
 * already found outside the page. A found call may belong to another call, so the caller looks up keys until no new
 * keys appear.
 */
export function keysBeyond(known: readonly PlacedItem[], { from, to }: PageEdges): OutsideCallKeys {
  const beyond: OutsideCallKeys = { before: new Set(), from: new Set() };
  const families = Map.groupBy(known, ({ item }) => callKeyOf(item) ?? '');
  families.delete('');
  for (const [key, items] of families) {
    const parts = items.filter(({ item }) => isCall(item) || isAnswer(item));
    const first = parts[0];
    if (!first || (isAnswer(first.item) && first.index >= from)) beyond.before.add(key);
    const last = parts.at(-1);
    if (last && isCall(last.item) && last.index < to) beyond.from.add(key);
  }
  for (const { index, item } of known) {
    for (const callId of callsOf(item)) {
      const keys = callKeysOf(callId);
      const isKnown = keys.some((key) =>
        families.get(key)?.some((one) => isCall(one.item) && one.index < index),
      );
      if (!isKnown) for (const key of keys) beyond.before.add(key);
    }
  }
  return beyond;
}

/**
 * Builds the page of a run. `known` are the run's items in order: all items of the page, and all items that belong to
 * them.
 */
export function pageOfRun(
  run: Pick<Response, 'status' | 'error'>,
  known: readonly PlacedItem[],
  { from, to }: PageEdges,
): RunPage {
  const places = new Map(known.map(({ item, index }) => [item.id, index]));
  const placeOf = ({ id }: OutputItem): number => places.get(id) ?? 0;
  const isOnPage = (item: OutputItem): boolean => placeOf(item) >= from && placeOf(item) < to;
  const views = viewsOf(known.map(({ item }) => item));
  const calls = Map.groupBy(
    views.filter(({ item }) => isCall(item) && placeOf(item) < to),
    ({ item }) => idOfCall(item),
  );
  const shown = new Set(
    views.filter((view) => isOnPage(view.item) || (view.answer && isOnPage(view.answer))),
  );
  const apart = [...shown].flatMap(({ item, answer }) => [item, answer ?? []].flat());
  const size = apart
    .filter((item) => !isOnPage(item))
    .reduce((sum, item) => sum + sizeOf(item, Infinity), 0);
  const isOpen = (view: (typeof views)[number]): boolean =>
    placeOf(view.item) < from && progressOf(view, run).status === 'open';
  for (const view of views.filter(isOpen)) shown.add(view);
  // A loop over a set also visits items that are added during the loop.
  for (const { item } of shown) {
    for (const callId of callsOf(item)) {
      const call = calls.get(callId)?.findLast((one) => placeOf(one.item) < placeOf(item));
      if (call) shown.add(call);
    }
  }
  const shownCalls = new Set([...shown].map(({ item }) => idOfCall(item)));
  for (const view of views) {
    const { item } = view;
    const isAsked = item.type === 'approval' && item.callId !== undefined;
    if (isAsked && placeOf(item) < from && shownCalls.has(item.callId)) shown.add(view);
  }
  const items = new Set([...shown].flatMap(({ item, answer }) => [item, answer ?? []].flat()));
  const inOrder = known.flatMap(({ item }) => (items.has(item) ? item : []));
  const earlier = inOrder.filter((item) => placeOf(item) < from);
  return {
    items: inOrder,
    earlier: earlier.map((item) => ({ itemId: item.id, index: placeOf(item) })),
    size,
  };
}

/** Returns the ids of the calls that an item belongs to. */
function callsOf(item: OutputItem): string[] {
  const asks = item.type === 'approval' ? item.callId : undefined;
  return [item.parentCallId, asks].filter((callId) => callId !== undefined);
}

/** The id by which other items refer to a call. */
function idOfCall(item: OutputItem): string | undefined {
  if (item.type === 'function_call') return item.callId;
  return item.type === 'script_execution' ? item.id : undefined;
}
