/**
 * Converts a conversation for models with tools and models without: pure. A model without tools requests a script as a block
 * in its message, and the log also has it as a call. Each kind of model gets only the form that it would write itself.
 */
import type { OutputItem } from '@liminal/protocol';
import { findScript } from '../scripts/index.ts';
import { blockCallOf } from './script-block.ts';
import { fromLiminal } from './script-tool.ts';

type CallItem = Extract<OutputItem, { type: 'function_call' }>;
type CallOutput = Extract<OutputItem, { type: 'function_call_output' }>;

/** Replaces script blocks that were run by their calls. @param conversation - As returned by `conversationOf`. */
export function withBlocksAsCalls(conversation: readonly OutputItem[]): OutputItem[] {
  const calls = new Set(
    conversation.flatMap((item) => (item.type === 'function_call' ? item.callId : [])),
  );
  return conversation.flatMap((item) => {
    if (item.type !== 'message' || item.origin !== 'agent') return item;
    if (!calls.has(blockCallOf(item.id))) return item;
    const found = findScript(item.content);
    // A block that was not run stays, so that the model sees what was wrong.
    if (found === undefined || 'problem' in found) return item;
    const content = found.before.trimEnd();
    return content === '' ? [] : { ...item, content };
  });
}

/**
 * Removes calls; their outputs become messages of the user.
 * @param conversation - As returned by `conversationOf`.
 * @param isMeant - Which calls are converted. Default: all.
 */
export function withCallsAsText(
  conversation: readonly OutputItem[],
  isMeant: (call: OutputItem) => boolean = () => true,
): OutputItem[] {
  const blocks = new Set<string>();
  /** By call id; undefined for a call that is kept. */
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

/** Puts a text into a code block that nothing in the text can end: the text of a file or page is not the user's. */
function fenced(text: string): string {
  const runs = text.match(/`+/g) ?? [];
  const longest = runs.reduce((most, { length }) => Math.max(most, length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
