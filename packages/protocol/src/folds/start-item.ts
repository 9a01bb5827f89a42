/** Creates an item from its `item_start` event, and the `item_start` event from an item. */
import type { ItemStartPayload } from '../events.ts';
import {
  type ItemPatch,
  type ItemType,
  type OutputItem,
  patchKeys,
  startKeys,
  textKeys,
} from '../items.ts';
import { itemText } from './item-text.ts';

/**
 * Returns the started item. `startedAt` is ISO 8601 UTC. If the start lacks an id that the item's type needs (a call's
 * or an approval's), the item's own id is used instead until the item is done.
 */
export function startItem(payload: ItemStartPayload, startedAt: string): OutputItem {
  const { itemId: id, itemType } = payload;
  const fields = pickDefined(payload, startKeys[itemType]);
  return { id, startedAt, ...emptyItem(payload), ...fields };
}

/** The item with the fields that its type needs but its start may lack. */
function emptyItem(start: ItemStartPayload) {
  const { itemId: id, itemType: type, initialContent: text = '', origin } = start;
  const callId = start.callId || id;
  switch (type) {
    case 'message':
      return { type, content: text, origin: origin ?? 'agent' } as const;
    case 'reasoning':
      return { type, content: text, origin: origin === 'system' ? origin : 'agent' } as const;
    case 'function_call':
      return { type, name: '', arguments: text, callId, origin: 'agent' } as const;
    case 'function_call_output':
      return { type, callId, output: text, success: true, origin: 'system' } as const;
    case 'script_execution':
      return { type, code: text, origin: 'agent' } as const;
    case 'script_execution_output':
      return {
        type,
        scriptId: callId,
        result: text,
        success: true,
        origin: 'script_harness',
      } as const;
    case 'error':
      return { type, code: 'UNKNOWN_ERROR', message: text, origin: 'system' } as const;
    case 'plan':
      return { type, entries: [] };
    case 'file_changes':
      return { type, diffs: [] };
    case 'approval':
      return { type, approvalId: start.approvalId || id, title: '', options: [] };
  }
}

/**
 * Returns the start of an item, with all fields that a start can have. Of the item's text, includes only arguments and
 * code.
 */
export function itemStart(item: OutputItem): ItemStartPayload {
  const { id: itemId, type: itemType } = item;
  const empty = emptyKey(item);
  const keys = startKeys[itemType].filter((key) => key !== empty);
  const fields = pickDefined<StartFields>(item, keys);
  return { type: 'item_start', itemId, itemType, ...ownStartFields(item), ...fields };
}

/** The key of a text or a plan that is still empty. A start leaves out this key. */
function emptyKey(item: OutputItem) {
  if (item.type === 'plan') return item.entries.length === 0 ? 'entries' : undefined;
  return itemText(item) === '' ? textKeys[item.type][0] : undefined;
}

type StartFields = Pick<ItemStartPayload, (typeof startKeys)[ItemType][number]>;

/** Returns the fields that a start has under another name, or only for some types. */
function ownStartFields(item: OutputItem): Partial<ItemStartPayload> {
  switch (item.type) {
    case 'message':
      return { origin: item.origin };
    case 'function_call':
    case 'function_call_output':
      return { callId: item.callId };
    case 'script_execution_output':
      return { callId: item.scriptId };
    case 'approval':
      return { approvalId: item.approvalId };
    case 'reasoning':
      return item.origin === 'system' ? { origin: item.origin } : {};
    case 'script_execution':
    case 'error':
    case 'plan':
    case 'file_changes':
      return {};
  }
}

/**
 * Returns the item with those fields of a patch that its type has; a call's arguments are left out, because they are
 * its text.
 */
export function patchItem(item: OutputItem, patch: ItemPatch): OutputItem {
  return { ...item, ...pickDefined(patch, patchKeys[item.type]) };
}

/** Returns the fields with these keys that are not undefined. */
export function pickDefined<T extends object, K extends keyof T = keyof T>(
  from: T,
  keys: readonly K[],
): Partial<Pick<T, K>> {
  const picked: Partial<Pick<T, K>> = {};
  for (const key of keys) if (from[key] !== undefined) picked[key] = from[key];
  return picked;
}

/**
 * Returns the fields that are not undefined: in a spread, an undefined field would overwrite a known field, and it is
 * not stored.
 */
export function withoutUndefined<T extends object>(fields: T): T {
  const copy = { ...fields };
  for (const key of Object.keys(copy)) {
    if (Reflect.get(copy, key) === undefined) Reflect.deleteProperty(copy, key);
  }
  return copy;
}
