/** A model without tools writes scripts in its answer. Makes a call from such a script. Pure. */
import { createHash } from 'node:crypto';
import type { OutputItem } from '@liminal/protocol';
import { findScript } from '../scripts/index.ts';
import { lengthReasons } from './failing-steps.ts';
import type { ModelCall } from './model-client.ts';
import { scriptName } from './script-tool.ts';

/** A call made from a script block. */
export interface BlockCall extends ModelCall {
  item: OutputItem;
  /** Why the call must not run, as a sentence for the model. */
  problem?: string;
}

/** The makers' finish reasons for an answer that is incomplete. */
const cutReasons = new Set([...lengthReasons, 'content_filter', 'refusal', 'safety', 'error']);

/**
 * Returns the id of the call that is made from the script block of a message. Every maker's API accepts the characters
 * of this id.
 */
export const blockCallOf = (messageId: string): string =>
  `script_${createHash('sha256').update(messageId).digest('hex').slice(0, 32)}`;

/**
 * Returns the call that is made from the script block of an answer.
 * @param answer - The answer's items.
 * @param finishReason - The finish reason in the maker's own term.
 */
export function blockIn(
  answer: readonly OutputItem[],
  finishReason: string,
): BlockCall | undefined {
  const messages = answer.flatMap((item) =>
    item.type === 'message' && item.origin === 'agent' && item.content.trim() !== '' ? item : [],
  );
  const last = messages.at(-1);
  const found = findScript(messages.map(({ content }) => content).join('\n\n'));
  if (last === undefined || found === undefined) return undefined;
  const problem = 'problem' in found ? found.problem : cutProblem(finishReason);
  const input = 'code' in found && problem === undefined ? { code: found.code } : {};
  const callId = blockCallOf(last.id);
  const called = { callId, name: scriptName, arguments: JSON.stringify(input) };
  const face = { title: 'Script', kind: 'execute', origin: 'agent' } as const;
  const item = { type: 'function_call', id: callId, ...called, ...face } as const;
  return { ...called, itemId: callId, item, ...(problem !== undefined && { problem }) };
}

function cutProblem(finishReason: string): string | undefined {
  if (!cutReasons.has(finishReason.toLowerCase())) return undefined;
  return `It was not run: your answer was cut off (${finishReason}), and may not be whole. Write it again, and shorter.`;
}
