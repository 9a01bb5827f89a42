/**
 * Converts a conversation for models with tools, or for models without tools. A model without tools writes a script as
 * a block in its message; the log contains the block, and also a call that was made from the block. A model of either
 * kind gets only the form that it would write itself. Pure.
 */
import type { OutputItem } from '@liminal/protocol';
import { findScript } from '../scripts/index.ts';
import { blockCallOf } from './script-block.ts';
import { fromLiminal } from './script-tool.ts';

type CallItem = Extract<OutputItem, { type: 'function_call' }>;
type CallOutput = Extract<OutputItem, { type: 'function_call_output' }>;

/**
 * Removes each script block that was run, and keeps the call that was made from the block.
 * @param conversation - As returned by `conversationOf`.
 */
export function withBlocksAsCalls(conversation: readonly OutputItem[]): OutputItem[] {
  const calls = new Set(
    conversation.flatMap((item) => (item.type === 'function_call' ? item.callId : [])),
  );
  return conversation.flatMap((item) => {
    if (item.type !== 'message' || item.origin !== 'agent') return item;
    if (!calls.has(blockCallOf(item.id))) return item;
    const found = findScript(item.content);
    // A block that was not run stays in the message, so that the model can see the reason.
    if (found === undefined || 'problem' in found) return item;
    const content = found.before.trimEnd();
    return content === '' ? [] : { ...item, content };
  });
}

/**
 * Removes calls, and converts their outputs to messages of the user.
 * @param conversation - As returned by `conversationOf`.
 * @param isMeant - Whether a call is converted. Default: all calls.
 */
export function withCallsAsText(
  conversation: readonly OutputItem[],
  isMeant: (call: OutputItem) => boolean = () => true,
): OutputItem[] {
  const blocks = new Set<string>();
  /** The call that becomes text, by call id; undefined for a call that is kept. */
  const calls = new Map<string, CallItem | undefined>();
  return conversation.flatMap((item) => {
    if (item.type === 'message' && item.origin === 'agent') blocks.add(blockCallOf(item.id));
    if (item.type === 'function_call') {
      const isConverted = isMeant(item);
      calls.set(item.callId, isConverted ? item : undefined);
      return isConverted ? [] : item;
    }
    if (item.type !== 'function_call_output') return item;
    const call = calls.get(item.callId);
    if (call !== undefined) return outputMessage(item, call, blocks.has(call.callId));
    return calls.has(item.callId) ? item : [];
  });
}

function outputMessage(
  { id, output, success, blocks }: CallOutput,
  call: CallItem,
  isBlock: boolean,
): OutputItem {
  const what = isBlock ? 'Your script' : `The call ${call.name}(${call.arguments})`;
  const how = success ? 'has ended, and gave' : 'did not succeed';
  const content = `${fromLiminal} ${what} ${how}:\n\n${fenced(output)}`;
  return { type: 'message', id, content, origin: 'user', ...(blocks && { blocks }) };
}

/**
 * Puts a text into a code block that the text itself cannot end, because the text of a file or page must not look like
 * the user's.
 */
function fenced(text: string): string {
  const runs = text.match(/`+/g) ?? [];
  const longest = runs.reduce((most, { length }) => Math.max(most, length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
