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
  const waiting = new Map<string, string>();
  const pairs = new Map<string, string>();
  for (const item of items) {
    if (isCall(item) && !item.error) waiting.set(callKey(item), item.id);
    if (!isAnswer(item)) continue;
    const call = waiting.get(answerKey(item));
    if (call === undefined) continue;
    pairs.set(item.id, call);
    waiting.delete(answerKey(item));
  }
  return pairs;
}

// Tool calls and scripts take their ids from different sources, which may collide.
function callKey(item: Call): string {
  return item.type === 'function_call' ? `call ${item.callId}` : `script ${item.id}`;
}

function answerKey(item: Answer): string {
  return item.type === 'function_call_output' ? `call ${item.callId}` : `script ${item.scriptId}`;
}
