import { joinTurns, type TurnView } from '@liminal/client';
import type { UpsertObject } from '@liminal/protocol';

/**
 * The id of an item that is shown, found by its own id, by its tool call's id, or as the first of its turn by the turn's
 * id; undefined if it is not in these turns. What a later turn has again is found there.
 */
export function findItem(turns: readonly TurnView[], id: string): string | undefined {
  const shown = joinTurns(turns);
  const found = find(shown, id) ?? findAgain(shown, turns, id);
  return (found ?? shown.find(({ turnId }) => turnId === id)?.items[0])?.itemId;
}

/** Where a call is made again, or the one that it belongs to. */
function findAgain(
  shown: readonly TurnView[],
  turns: readonly TurnView[],
  id: string,
): UpsertObject | undefined {
  const seen = new Set<UpsertObject>();
  let item = find(turns, id);
  while (item !== undefined && !seen.has(item)) {
    seen.add(item);
    const again = find(shown, callIdOf(item));
    if (again !== undefined) return again;
    item = find(turns, item.type === 'approval' ? item.callId : item.parentCallId);
  }
  return undefined;
}

function find(turns: readonly TurnView[], id: string | undefined): UpsertObject | undefined {
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
