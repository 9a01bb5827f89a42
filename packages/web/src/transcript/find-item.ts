import type { TurnView } from '@liminal/client';

/**
 * The id of an item, found by its own id, by its tool call's id, or as the first of its turn by the turn's id; undefined
 * if it is not in these turns.
 */
export function findItem(turns: readonly TurnView[], id: string): string | undefined {
  for (const { items } of turns.toReversed()) {
    const item =
      items.findLast((one) => one.itemId === id) ??
      items.findLast((one) => one.type === 'tool_call' && one.callId === id);
    if (item !== undefined) return item.itemId;
  }
  return turns.find(({ turnId }) => turnId === id)?.items[0]?.itemId;
}
