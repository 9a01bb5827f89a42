import type { TurnView } from '@liminal/client';
import type { UpsertObject } from '@liminal/protocol';

/** Where an item stands. */
export interface ItemPlace {
  turnId: string;
  /** Ids of the items to open one after the other: the calls that it happened below, outermost first, then itself. */
  path: string[];
}

/** Finds an item by its id, or a tool call by its call's; undefined if it is not among these turns. */
export function findItem(turns: readonly TurnView[], id: string): ItemPlace | undefined {
  for (const { turnId, items } of turns.toReversed()) {
    const item =
      items.findLast((one) => one.itemId === id) ??
      items.findLast((one) => one.type === 'tool_call' && one.callId === id);
    if (item !== undefined) return { turnId, path: pathTo(item, items) };
  }
  return undefined;
}

function pathTo(item: UpsertObject, items: readonly UpsertObject[]): string[] {
  const path = [item.itemId];
  let parent = parentOf(item, items);
  while (parent !== undefined && !path.includes(parent.itemId)) {
    path.unshift(parent.itemId);
    parent = parentOf(parent, items);
  }
  return path;
}

/** The call that it happened below, or the one that it asks for. */
function parentOf(item: UpsertObject, items: readonly UpsertObject[]): UpsertObject | undefined {
  const callId = item.type === 'approval' ? (item.callId ?? item.parentCallId) : item.parentCallId;
  return callId === undefined
    ? undefined
    : items.find((one) => one.type === 'tool_call' && one.callId === callId);
}
