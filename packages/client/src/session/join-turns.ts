import {
  type ApprovalUpsert,
  isServerTurn,
  type ToolCallUpsert,
  type UpsertObject,
} from '@liminal/protocol';
import type { TurnView } from './view.ts';

/** A turn, in the form in which people see it. */
export interface JoinedTurn extends TurnView {
  /**
   * The id of the turn that continues this turn, if the server ended and cut this turn off while the turn waited for
   * people's answers.
   */
  readonly continuedBy?: string | undefined;
  /** The id of the turn that this turn continues. */
  readonly continuationOf?: string | undefined;
}

/**
 * Merges a turn that was cut off because its server ended with the turn that continues it, so that people see one turn.
 * The agent continues in a new turn, and this turn repeats the open calls and questions. Repeated calls and questions
 * are shown only in the new turn, and scripts are shown together with their calls. All other items stay in the old
 * turn. A turn that has not changed stays the same object. Source: docs/decisions/0008-waiting-turns.md.
 */
export function joinTurns(turns: readonly TurnView[]): readonly JoinedTurn[] {
  if (!turns.some(isCutOff)) return turns;
  const earlier = new Map<string, string>();
  return turns.map((turn, index): JoinedTurn => {
    const continuationOf = earlier.get(turn.turnId);
    const next = isCutOff(turn) ? nextOf(turns, index) : undefined;
    const repeated = next === undefined ? none : repeatedItems(turn, next);
    if (next === undefined || repeated.size === 0) {
      return continuationOf === undefined ? turn : reuseJoined(turn, { ...turn, continuationOf });
    }
    earlier.set(next.turnId, turn.turnId);
    const items = turn.items.filter((item) => !repeated.has(item));
    return reuseJoined(turn, { ...turn, items, continuedBy: next.turnId, continuationOf });
  });
}

/**
 * Returns the sentence at the end of a turn that another turn continues. Undefined for any other turn, and for a turn
 * without items that is itself a continuation.
 */
export function continuationNote({
  continuedBy,
  continuationOf,
  items,
}: JoinedTurn): string | undefined {
  const isOnlyBetween = continuationOf !== undefined && items.length === 0;
  if (continuedBy === undefined || isOnlyBetween) return undefined;
  return 'The server stopped here; the turn continues below.';
}

const none: ReadonlySet<UpsertObject> = new Set();

const isCutOff = ({ status, error }: TurnView): boolean =>
  status === 'error' && error?.code === 'OWNER_LOST';

/** Returns the next turn of the conversation that is not a turn of the server. */
const nextOf = (turns: readonly TurnView[], index: number): TurnView | undefined =>
  turns.find((turn, at) => at > index && !isServerTurn(turn));

/**
 * Returns the ids of those items of a cut-off turn that the next turn repeats: the cancelled questions, and the
 * repeated calls with all items in them.
 */
function repeatedItems({ items }: TurnView, next: TurnView): ReadonlySet<UpsertObject> {
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
    // The new turn may not contain the question, because the call is now allowed, or because the script with the call
    // has not reached the call yet.
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

/** Returns the id of a call in this turn, and the ids of the calls around it, from the innermost to the outermost. */
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

/** Whether an item is a call that was cut off and whose output is only in this turn. */
const isCutOutput = (item: UpsertObject): boolean =>
  item.type === 'tool_call' && item.status === 'error' && (item.toolOutput ?? '') !== '';

const joined = new WeakMap<TurnView, JoinedTurn>();

/** Returns the earlier result for the same turn if the new result is equal to it. */
function reuseJoined(turn: TurnView, made: JoinedTurn): JoinedTurn {
  const known = joined.get(turn);
  const isSame =
    known !== undefined &&
    known.continuedBy === made.continuedBy &&
    known.continuationOf === made.continuationOf &&
    known.items.length === made.items.length &&
    known.items.every((item, index) => item === made.items[index]);
  if (isSame) return known;
  joined.set(turn, made);
  return made;
}
