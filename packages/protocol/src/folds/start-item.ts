/** Creates an item from its `item_start`. */
import type { ItemStartPayload } from '../events.ts';
import type { ItemPatch, OutputItem } from '../items.ts';

/**
 * Returns the started item. `startedAt` is ISO 8601 UTC. If the start lacks an id that its type needs (a call's, an
 * approval's), the item's own id stands in until the item is done.
 */
export function startItem(payload: ItemStartPayload, startedAt: string): OutputItem {
  const text = payload.initialContent ?? '';
  const base = withoutUndefined({
    id: payload.itemId,
    correlationId: payload.correlationId,
    parentCallId: payload.parentCallId,
    startedAt,
  });
  const callId = payload.callId || payload.itemId;
  switch (payload.itemType) {
    case 'message':
      return withoutUndefined({
        ...base,
        type: 'message',
        content: text,
        origin: payload.origin ?? 'agent',
        delivery: payload.delivery,
        compaction: payload.compaction,
      });
    case 'reasoning': {
      const origin = payload.origin === 'system' ? 'system' : 'agent';
      return { ...base, type: 'reasoning', content: text, origin };
    }
    case 'function_call':
      return withoutUndefined({
        ...base,
        type: 'function_call',
        name: payload.name ?? '',
        arguments: payload.arguments ?? text,
        callId,
        origin: 'agent',
        title: payload.title,
        kind: payload.kind,
        locations: payload.locations,
      });
    case 'function_call_output':
      return {
        ...base,
        type: 'function_call_output',
        callId,
        output: text,
        success: true,
        origin: 'system',
      };
    case 'script_execution':
      return { ...base, type: 'script_execution', code: payload.code ?? text, origin: 'agent' };
    case 'script_execution_output':
      return {
        ...base,
        type: 'script_execution_output',
        scriptId: callId,
        result: text,
        success: true,
        origin: 'script_harness',
      };
    case 'error':
      return { ...base, type: 'error', code: 'UNKNOWN_ERROR', message: text, origin: 'system' };
    case 'plan':
      return { ...base, type: 'plan', entries: payload.entries ?? [] };
    case 'file_changes':
      return { ...base, type: 'file_changes', diffs: payload.diffs ?? [] };
    case 'approval':
      return withoutUndefined({
        ...base,
        type: 'approval',
        approvalId: payload.approvalId || payload.itemId,
        title: payload.title ?? '',
        askedBy: payload.askedBy,
        description: payload.description,
        callId: payload.callId,
        options: payload.options ?? [],
        form: payload.form,
        editable: payload.editable,
        deadline: payload.deadline,
        asked: payload.asked,
        earlier: payload.earlier,
      });
  }
}

/**
 * Returns the item with those fields of a patch that its type has; a call's arguments are left out, because they are
 * its text.
 */
export function patchItem(item: OutputItem, patch: ItemPatch): OutputItem {
  const { raw, title, kind, locations, diffs, blocks, entries } = patch;
  switch (item.type) {
    case 'message':
      return { ...item, ...withoutUndefined({ raw, blocks }) };
    case 'function_call':
      return { ...item, ...withoutUndefined({ raw, title, kind, locations, diffs }) };
    case 'function_call_output':
      return { ...item, ...withoutUndefined({ raw, blocks, diffs }) };
    case 'plan':
      return { ...item, ...withoutUndefined({ raw }), entries: entries ?? item.entries };
    case 'file_changes':
      return { ...item, ...withoutUndefined({ raw }), diffs: diffs ?? item.diffs };
    case 'reasoning':
    case 'script_execution':
    case 'script_execution_output':
    case 'error':
    case 'approval':
      return { ...item, ...withoutUndefined({ raw }) };
  }
}

/**
 * Returns the fields that are not undefined. An undefined field would overwrite a known field in a spread, and is not
 * stored.
 */
export function withoutUndefined<T extends object>(fields: T): T {
  const copy = { ...fields };
  for (const key of Object.keys(copy)) {
    if (Reflect.get(copy, key) === undefined) Reflect.deleteProperty(copy, key);
  }
  return copy;
}
