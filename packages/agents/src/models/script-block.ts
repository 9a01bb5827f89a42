/** The script that a model without tools writes into its answer, as a call of the turn's own: pure. */
import { createHash } from 'node:crypto';
import type { OutputItem } from '@liminal/protocol';
import { findScript } from '../scripts/index.ts';
import { lengthReasons } from './failing-steps.ts';
import type { ModelCall } from './model-client.ts';
import { scriptName } from './script-tool.ts';

/** A call made of a block. */
export interface BlockCall extends ModelCall {
  item: OutputItem;
  /** Why it is not run, as a sentence for the model. */
  problem?: string;
}

/** Words of makers for an answer that is not all that the model wanted to say. */
const cutReasons = new Set([...lengthReasons, 'content_filter', 'refusal', 'safety', 'error']);

/** The id of the call that the block of a message is. It has nothing in it that a maker does not take. */
export const blockCallOf = (messageId: string): string =>
  `script_${createHash('sha256').update(messageId).digest('hex').slice(0, 32)}`;

/**
 * What an answer asks to be run.
 * @param answer - Its items.
 * @param finishReason - Why it ended, in the maker's word.
 */
export function blockIn(
  answer: readonly OutputItem[],
  finishReason: string,
): BlockCall | undefined {
  const said = answer.flatMap((item) =>
    item.type === 'message' && item.origin === 'agent' && item.content.trim() !== '' ? item : [],
  );
  const last = said.at(-1);
  const found = findScript(said.map(({ content }) => content).join('\n\n'));
  if (last === undefined || found === undefined) return undefined;
  const problem = 'problem' in found ? found.problem : problemOf(finishReason);
  const input = 'code' in found && problem === undefined ? { code: found.code } : {};
  const callId = blockCallOf(last.id);
  const called = { callId, name: scriptName, arguments: JSON.stringify(input) };
  const face = { title: 'Script', kind: 'execute', origin: 'agent' } as const;
  const item = { type: 'function_call', id: callId, ...called, ...face } as const;
  return { ...called, itemId: callId, item, ...(problem !== undefined && { problem }) };
}

function problemOf(finishReason: string): string | undefined {
  if (!cutReasons.has(finishReason.toLowerCase())) return undefined;
  return `It was not run: your answer was cut off (${finishReason}), and may not be whole. Write it again, and shorter.`;
}
