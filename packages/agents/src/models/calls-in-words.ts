/**
 * A conversation for a model with tools and for one without: pure. What a model without tools has asked to be run stands in
 * its message as a block, and in the log as a call. Each kind of model is to read it once, as it would have said it itself.
 */
import type { OutputItem } from '@liminal/protocol';
import { findScript } from '../scripts/index.ts';
import { blockCallOf } from './script-block.ts';
import { fromLiminal } from './script-tool.ts';

type Call = Extract<OutputItem, { type: 'function_call' }>;
type Output = Extract<OutputItem, { type: 'function_call_output' }>;

/** With blocks that were run as the calls that they were. @param conversation - As `conversationOf` gives it. */
export function inCalls(conversation: readonly OutputItem[]): OutputItem[] {
  const calls = new Set(
    conversation.flatMap((item) => (item.type === 'function_call' ? item.callId : [])),
  );
  return conversation.flatMap((item) => {
    if (item.type !== 'message' || item.origin !== 'agent') return item;
    if (!calls.has(blockCallOf(item.id))) return item;
    const found = findScript(item.content);
    // What was not run stays for the model to see what was wrong.
    if (found === undefined || 'problem' in found) return item;
    const content = found.before.trimEnd();
    return content === '' ? [] : { ...item, content };
  });
}

/**
 * Without calls and outputs: what they gave is said in the user's place.
 * @param conversation - As `conversationOf` gives it.
 * @param isMeant - Which calls are put so. Default: all.
 */
export function inWords(
  conversation: readonly OutputItem[],
  isMeant: (call: OutputItem) => boolean = () => true,
): OutputItem[] {
  const blocks = new Set<string>();
  /** Undefined for a call that stays one. */
  const calls = new Map<string, Call | undefined>();
  return conversation.flatMap((item) => {
    if (item.type === 'message' && item.origin === 'agent') blocks.add(blockCallOf(item.id));
    if (item.type === 'function_call') {
      const isTold = isMeant(item);
      calls.set(item.callId, isTold ? item : undefined);
      return isTold ? [] : item;
    }
    if (item.type !== 'function_call_output') return item;
    const call = calls.get(item.callId);
    if (call !== undefined) return said(item, call, blocks.has(call.callId));
    return calls.has(item.callId) ? item : [];
  });
}

function said({ id, output, success, blocks }: Output, call: Call, isBlock: boolean): OutputItem {
  const what = isBlock ? 'Your script' : `The call ${call.name}(${call.arguments})`;
  const how = success ? 'has ended, and gave' : 'did not succeed';
  const content = `${fromLiminal} ${what} ${how}:\n\n${fenced(output)}`;
  return { type: 'message', id, content, origin: 'user', ...(blocks && { blocks }) };
}

/** In a code block that nothing in it can end: what a file or a page says is not the user's word. */
function fenced(text: string): string {
  const runs = text.match(/`+/g) ?? [];
  const longest = runs.reduce((most, { length }) => Math.max(most, length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
