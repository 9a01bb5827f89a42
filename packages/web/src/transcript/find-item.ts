import { joinTurns, type TurnView } from '@liminal/client';
import type { UpsertObject } from '@liminal/protocol';

/**
 * Returns the id of a shown item, found by its own id, by its tool call's id, or by its turn's id (for the turn's first
 * item). Returns undefined if the turns do not contain the item. If a later turn repeats the item, returns the item of
 * the later turn.
 */
export function findItemId(turns: readonly TurnView[], id: string): string | undefined {
  const shown = joinTurns(turns);
  const found = findLast(shown, id) ?? findAgain(shown, turns, id);
  return (found ?? shown.find(({ turnId }) => turnId === id)?.items[0])?.itemId;
}

/** Finds, in a later turn, the repetition of a call or of the call that contains an item. */
function findAgain(
  shown: readonly TurnView[],
  turns: readonly TurnView[],
  id: string,
): UpsertObject | undefined {
  const seen = new Set<UpsertObject>();
  let item = findLast(turns, id);
  while (item !== undefined && !seen.has(item)) {
    seen.add(item);
    const again = findLast(shown, callIdOf(item));
    if (again !== undefined) return again;
    item = findLast(turns, item.type === 'approval' ? item.callId : item.parentCallId);
  }
  return undefined;
}

function findLast(turns: readonly TurnView[], id: string | undefined): UpsertObject | undefined {
  for (const { items } of turns.toReversed()) {
    const item =
      items.findLast((one) => one.itemId === id) ??
      items.findLast((one) => one.type === 'tool_call' && one.callId === id);
    if (item !== undefined) return item;
  }
  return undefined;
}

function callIdOf(item: UpsertObject | undefined): string | undefined {
  return item !== undefined && 'callId' in item ? item.callId : undefined;
}
