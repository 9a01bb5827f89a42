import type { HistoryMessage, HistoryPage, TurnSummary, UpsertObject } from '@liminal/protocol';
import type { SessionView, TurnView } from './view.ts';

/**
 * Applies the start of a subscription (see wire/websocket.ts): a `snapshot` replaces the whole view, and a `tail`
 * replaces each turn that it contains.
 */
export function applyHistory(view: SessionView, message: HistoryMessage): SessionView {
  const given = toTurns(message);
  const started: SessionView = {
    ...view,
    phase: 'ready',
    cursor: message.cursor,
    needsResync: false,
    problem: undefined,
  };
  if (message.resumed === 'tail') return { ...started, turns: replaceTurns(view.turns, given) };
  return {
    ...started,
    turns: given.map((turn) => reuse(findTurn(view.turns, turn.turnId), turn)),
    hasMore: message.hasMore,
    before: message.before,
  };
}

/**
 * Puts an older page in front of the view. `requestedBefore` is the cursor with which the page was requested. If a
 * snapshot has arrived since then, the page may no longer join the view, and is then ignored.
 */
export function applyOlderPage(
  view: SessionView,
  page: HistoryPage,
  requestedBefore: string,
): SessionView {
  if (view.before !== requestedBefore) return view;
  const older = toTurns(page);
  const held = new Map(view.turns.map((turn) => [turn.turnId, turn]));
  const fresh = older.filter((turn) => !held.has(turn.turnId));
  const split = new Map(older.filter((turn) => held.has(turn.turnId)).map((t) => [t.turnId, t]));
  const joined = view.turns.map((turn) => joinHalves(split.get(turn.turnId), turn));
  return { ...view, turns: [...fresh, ...joined], hasMore: page.hasMore, before: page.before };
}

/**
 * Joins the two parts of a turn that a page boundary has split: the older part from the page, then the part in the
 * view. The view may already contain an item of the older part, because the item has changed since then or belongs to
 * an item in the view. Such an item keeps its state in the view, and has the position that it has in the page. Items
 * from before both parts come first.
 */
function joinHalves(older: TurnView | undefined, held: TurnView): TurnView {
  if (older === undefined || older.items.length === 0) return held;
  const isEarlier = new Set(older.earlier?.map(({ itemId }) => itemId));
  const page = older.items.filter(({ itemId }) => !isEarlier.has(itemId));
  const placed = new Set(page.map(({ itemId }) => itemId));
  const places = new Map(
    [...(older.earlier ?? []), ...(held.earlier ?? [])]
      .filter(({ itemId }) => !placed.has(itemId))
      .map(({ itemId, index }) => [itemId, index]),
  );
  const known = new Map([...older.items, ...held.items].map((item) => [item.itemId, item]));
  const earlier = [...places]
    .map(([itemId, index]) => ({ itemId, index }))
    .toSorted((a, b) => a.index - b.index);
  const front = [...earlier, ...page].flatMap(({ itemId }) => known.get(itemId) ?? []);
  const inFront = new Set(front.map(({ itemId }) => itemId));
  const items = [...front, ...held.items.filter(({ itemId }) => !inFront.has(itemId))];
  return { ...held, items, earlier: earlier.length > 0 ? earlier : undefined };
}

/**
 * Replaces turns of the view by the tail's turns. A tail ends with the newest turn, so a turn that the tail does not
 * contain is older than the tail's turns.
 */
function replaceTurns(held: readonly TurnView[], given: readonly TurnView[]): readonly TurnView[] {
  const named = new Set(given.map((turn) => turn.turnId));
  const kept = held.filter((turn) => !named.has(turn.turnId));
  return [...kept, ...given.map((turn) => reuse(findTurn(held, turn.turnId), turn))];
}

function toTurns(page: Pick<HistoryPage, 'entries' | 'turns' | 'earlier'>): TurnView[] {
  const items = Map.groupBy(page.entries, (entry) => entry.turnId);
  const heads = new Map(page.turns.map((head) => [head.turnId, head]));
  const ids = new Set([...heads.keys(), ...items.keys()]);
  const [first] = page.turns;
  return [...ids].map((turnId) => {
    const turn = toTurn(turnId, heads.get(turnId), items.get(turnId) ?? []);
    const isCut = page.earlier !== undefined && turnId === first?.turnId;
    return isCut ? { ...turn, earlier: page.earlier } : turn;
  });
}

function toTurn(turnId: string, head: TurnSummary | undefined, items: UpsertObject[]): TurnView {
  return { ...(head ?? { turnId, status: 'complete' }), items };
}

/**
 * Returns the given turn, but uses the view's own objects for everything that has not changed, so that a reconnect
 * renders nothing again.
 */
function reuse(held: TurnView | undefined, given: TurnView): TurnView {
  if (held === undefined || held === given) return given;
  const before = new Map(held.items.map((item) => [item.itemId, item]));
  const items = given.items.map((item) => {
    const old = before.get(item.itemId);
    return old !== undefined && same(old, item) ? old : item;
  });
  const unchanged =
    items.length === held.items.length && items.every((item, index) => item === held.items[index]);
  if (!unchanged) return { ...given, items };
  return sameHead(held, given) ? held : { ...given, items: held.items };
}

/**
 * Whether two items have the same JSON. The order of keys does not matter, because both items come from the same
 * schema.
 */
function same(a: UpsertObject, b: UpsertObject): boolean {
  return JSON.stringify({ ...a, emittedAt: '' }) === JSON.stringify({ ...b, emittedAt: '' });
}

function sameHead(a: TurnView, b: TurnView): boolean {
  return JSON.stringify({ ...a, items: [] }) === JSON.stringify({ ...b, items: [] });
}

function findTurn(turns: readonly TurnView[], turnId: string): TurnView | undefined {
  return turns.find((turn) => turn.turnId === turnId);
}
