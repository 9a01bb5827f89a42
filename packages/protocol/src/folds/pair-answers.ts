/** Pairs outputs with their calls: tool outputs by `callId`, script outputs by `scriptId`. */
import type { OutputItem } from '../items.ts';

type CallItem = Extract<OutputItem, { type: 'function_call' | 'script_execution' }>;
export type AnswerItem = Extract<
  OutputItem,
  { type: 'function_call_output' | 'script_execution_output' }
>;

export function isCall(item: OutputItem): item is CallItem {
  return item.type === 'function_call' || item.type === 'script_execution';
}

export function isAnswer(item: OutputItem): item is AnswerItem {
  return item.type === 'function_call_output' || item.type === 'script_execution_output';
}

/** Returns a key that a call shares only with its answers; undefined for other items. */
export function familyOf(item: OutputItem): string | undefined {
  // Tool calls and scripts get their ids from different sources, so the id of a tool call may be equal to the id of a
  // script.
  switch (item.type) {
    case 'function_call':
    case 'function_call_output':
      return `tool:${item.callId}`;
    case 'script_execution':
      return `script:${item.id}`;
    case 'script_execution_output':
      return `script:${item.scriptId}`;
    default:
      return undefined;
  }
}

/** Returns the key that a call, its answers and its permission requests share; undefined for other items. */
export function callKeyOf(item: OutputItem): string | undefined {
  if (item.type !== 'approval') return familyOf(item);
  return item.callId === undefined ? undefined : callKeysOf(item.callId)[0];
}

/**
 * The keys that a call with this id can have. For items that contain the id of a call, but not whether the call is a
 * tool call or a script.
 */
export function callKeysOf(callId: string): [tool: string, script: string] {
  return [`tool:${callId}`, `script:${callId}`];
}

/**
 * Maps the id of each answer to the id of its call; answers without a call are left out. An answer belongs to the last
 * earlier call of its family that has no answer yet and did not end with an error. The result depends only on the
 * items, so live and stored turns have the same pairs. Each family is paired separately, so that a step of a live turn
 * reads only one family.
 */
export function pairAnswers(items: readonly OutputItem[]): Map<string, string> {
  const waiting = new Map<string, string>();
  const pairs = new Map<string, string>();
  for (const item of items) {
    const family = familyOf(item);
    if (family === undefined) continue;
    if (isCall(item)) {
      if (!item.error) waiting.set(family, item.id);
      continue;
    }
    const call = waiting.get(family);
    if (call === undefined) continue;
    pairs.set(item.id, call);
    waiting.delete(family);
  }
  return pairs;
}
