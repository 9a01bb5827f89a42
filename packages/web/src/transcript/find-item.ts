import { joinTurns, type TurnView } from '@liminal/client';
import type { UpsertObject } from '@liminal/protocol';

/**
 * The id of a shown item, found by its own id, its tool call's id, or its turn's id (the turn's first item). Undefined
 * if the turns do not contain it. An item that a later turn repeats is found in the later turn.
 */
export function findItemId(turns: readonly TurnView[], id: string): string | undefined {
  const shown = joinTurns(turns);
  const found = findLast(shown, id) ?? findAgain(shown, turns, id);
  return (found ?? shown.find(({ turnId }) => turnId === id)?.items[0])?.itemId;
}

/** Finds the repetition, in a later turn, of a call, or of the call that an item belongs to. */
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
