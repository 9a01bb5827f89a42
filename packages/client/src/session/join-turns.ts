import {
  type ApprovalUpsert,
  isServerTurn,
  type ToolCallUpsert,
  type UpsertObject,
} from '@liminal/protocol';
import type { TurnView } from './view.ts';

/** A turn as it is shown beside the others. */
export interface JoinedTurn extends TurnView {
  /** The turn that goes on with this one, which its server's end has cut off while it asked people. */
  readonly goesOnIn?: string | undefined;
  /** The turn that this one goes on with. */
  readonly goesOnFrom?: string | undefined;
}

/**
 * Turns, of which some are one to people: where an agent goes on with what its server's end has cut off, it makes the same
 * calls again and asks the same, in a turn of its own. Those then stand only there, a script with its calls; all else
 * stays where it was said or done. What does not change keeps its identity. Source: docs/decisions/0008-waiting-turns.md.
 */
export function joinTurns(turns: readonly TurnView[]): readonly JoinedTurn[] {
  if (!turns.some(isCutOff)) return turns;
  const earlier = new Map<string, string>();
  return turns.map((turn, index): JoinedTurn => {
    const goesOnFrom = earlier.get(turn.turnId);
    const next = isCutOff(turn) ? nextOf(turns, index) : undefined;
    const again = next === undefined ? none : madeAgain(turn, next);
    if (next === undefined || again.size === 0) {
      return goesOnFrom === undefined ? turn : kept(turn, { ...turn, goesOnFrom });
    }
    earlier.set(next.turnId, turn.turnId);
    const items = turn.items.filter((item) => !again.has(item));
    return kept(turn, { ...turn, items, goesOnIn: next.turnId, goesOnFrom });
  });
}

/** How a turn ends that a later one goes on with, for people; undefined for others, and for one of which nothing is left. */
export function goesOnWords({ goesOnIn, goesOnFrom, items }: JoinedTurn): string | undefined {
  const isOnlyBetween = goesOnFrom !== undefined && items.length === 0;
  if (goesOnIn === undefined || isOnlyBetween) return undefined;
  return 'The server ended here; the turn goes on below.';
}

const none: ReadonlySet<UpsertObject> = new Set();

const isCutOff = ({ status, error }: TurnView): boolean =>
  status === 'error' && error?.code === 'OWNER_LOST';

/** The next turn of the conversation: turns of the server itself are no part of it. */
const nextOf = (turns: readonly TurnView[], index: number): TurnView | undefined =>
  turns.find((turn, at) => at > index && !isServerTurn(turn));

/** The closed questions of a cut-off turn that the next one asks again, and the calls that it makes again, with all within. */
function madeAgain({ items }: TurnView, next: TurnView): ReadonlySet<UpsertObject> {
  if (next.trigger !== 'agent') return none;
  const calls = new Map(
    items.flatMap((item) => (item.type === 'tool_call' ? [[item.callId, item] as const] : [])),
  );
  const made = new Set(
    next.items.flatMap((item) => (item.type === 'tool_call' ? item.callId : [])),
  );
  const asked = items.flatMap((item) => {
    if (item.type !== 'approval' || item.outcome?.outcome !== 'cancelled') return [];
    const above = callsAbove(item.callId, calls);
    // By now the call may be allowed, or its script not yet be so far.
    const isAgain = next.items.some((one) => isQuestion(one, item)) || above.some(isIn(made));
    return isAgain ? [{ item, above }] : [];
  });
  const again = new Set(asked.flatMap(({ above }) => above.filter(isIn(made))));
  const isAgain = (item: UpsertObject): boolean =>
    item.type === 'tool_call' && item.toolOutput === undefined && again.has(item.callId);
  const isWithin = (item: UpsertObject): boolean =>
    !isCutOutput(item) && callsAbove(item.parentCallId, calls).some(isIn(again));
  return new Set([
    ...asked.map(({ item }) => item),
    ...items.filter((item) => isAgain(item) || isWithin(item)),
  ]);
}

/** A call of this turn by its id, and those that it belongs to, from the inside out. */
function callsAbove(callId: string | undefined, calls: ReadonlyMap<string, ToolCallUpsert>) {
  const above = new Set<string>();
  for (let id = callId; id !== undefined && !above.has(id); id = calls.get(id)?.parentCallId) {
    above.add(id);
  }
  return [...above];
}

const isIn =
  (ids: ReadonlySet<string>) =>
  (id: string): boolean =>
    ids.has(id);

const isQuestion = (item: UpsertObject, { approvalId }: ApprovalUpsert): boolean =>
  item.type === 'approval' && item.approvalId === approvalId;

/** What a call has printed before it was cut off: it stands nowhere else. */
const isCutOutput = (item: UpsertObject): boolean =>
  item.type === 'tool_call' && item.status === 'error' && (item.toolOutput ?? '') !== '';

const joined = new WeakMap<TurnView, JoinedTurn>();

/** What was made of a turn before, if that is the same. */
function kept(turn: TurnView, made: JoinedTurn): JoinedTurn {
  const known = joined.get(turn);
  const isSame =
    known !== undefined &&
    known.goesOnIn === made.goesOnIn &&
    known.goesOnFrom === made.goesOnFrom &&
    known.items.length === made.items.length &&
    known.items.every((item, index) => item === made.items[index]);
  if (isSame) return known;
  joined.set(turn, made);
  return made;
}
