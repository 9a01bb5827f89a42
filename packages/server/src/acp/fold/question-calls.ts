/** Shows a question that belongs to no tool call, and the answer to this question, as a tool call of its own. */
import type * as Acp from '@agentclientprotocol/sdk';
import type { ErrorObject } from '@liminal/protocol';
import { toolContent } from './content.ts';
import {
  type ApprovalItem,
  questionFields,
  type ToolCall,
  type ToolCallUpdate,
  updateOf,
} from './tool-calls.ts';

export function questionCall(item: ApprovalItem): ToolCall {
  const { id: toolCallId, title } = item;
  const call = { toolCallId, title, kind: 'other', status: 'pending' } as const;
  return { sessionUpdate: 'tool_call', ...call, ...questionFields(item) };
}

/** Returns the call of a question in the form that a permission request needs. */
export function questionOf(item: ApprovalItem): Acp.ToolCallUpdate {
  return { toolCallId: item.id, title: item.title, ...questionFields(item) };
}

export function answeredCall({ id, options, outcome }: ApprovalItem): ToolCallUpdate {
  const chosen =
    outcome?.outcome === 'selected'
      ? options.find(({ optionId }) => optionId === outcome.optionId)
      : undefined;
  if (chosen === undefined) {
    return { ...updateOf(id), status: 'failed', rawOutput: { error: unanswered, outcome } };
  }
  return {
    ...updateOf(id),
    status: chosen.kind.startsWith('allow') ? 'completed' : 'failed',
    content: toolContent(chosen.name, [], []),
    rawOutput: { outcome },
  };
}

const unanswered: ErrorObject = {
  code: 'UNANSWERED',
  message: 'The question ended without an answer.',
};
