/** Which output answers which call: tool outputs by `callId`, script outputs by `scriptId`. */
import type { OutputItem } from '../items.ts';

type Call = Extract<OutputItem, { type: 'function_call' | 'script_execution' }>;
export type Answer = Extract<
  OutputItem,
  { type: 'function_call_output' | 'script_execution_output' }
>;

export function isCall(item: OutputItem): item is Call {
  return item.type === 'function_call' || item.type === 'script_execution';
}

export function isAnswer(item: OutputItem): item is Answer {
  return item.type === 'function_call_output' || item.type === 'script_execution_output';
}

/**
 * Id of each answer that has a call → id of that call. An answer belongs to the last call before it with its call id
 * that has no answer yet and did not end in an error. Pure in the items, so that live and stored turns agree.
 */
export function pairAnswers(items: readonly OutputItem[]): Map<string, string> {
  // Tool calls and scripts take their ids from different sources, which may collide.
  const waiting: Record<Answer['type'], Map<string, string>> = {
    function_call_output: new Map(),
    script_execution_output: new Map(),
  };
  const pairs = new Map<string, string>();
  for (const item of items) {
    if (isCall(item)) {
      if (!item.error) waiting[`${item.type}_output`].set(callKey(item), item.id);
    } else if (isAnswer(item)) {
      const calls = waiting[item.type];
      const key = answerKey(item);
      const call = calls.get(key);
      if (call === undefined) continue;
      pairs.set(item.id, call);
      calls.delete(key);
    }
  }
  return pairs;
}

function callKey(item: Call): string {
  return item.type === 'function_call' ? item.callId : item.id;
}

function answerKey(item: Answer): string {
  return item.type === 'function_call_output' ? item.callId : item.scriptId;
}
