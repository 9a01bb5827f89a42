/** The updates that belong to a turn, each with its reader. */
import { updateType } from './fields.ts';
import type { AcpTurn } from './turn.ts';

type UpdateHandler = (turn: AcpTurn, update: unknown) => void;

const handlers: Record<string, UpdateHandler> = {
  user_message_chunk: (turn, update) => turn.chunk('user', update),
  agent_message_chunk: (turn, update) => turn.chunk('agent', update),
  agent_thought_chunk: (turn, update) => turn.chunk('thought', update),
  tool_call: (turn, update) => turn.toolCall(update, 'announcement'),
  tool_call_update: (turn, update) => turn.toolCall(update, 'update'),
  plan: (turn, update) => turn.plan(update),
  // The following types are not stable yet.
  plan_update: (turn, update) => turn.planUpdate(update),
  plan_removed: (turn, update) => turn.planRemoved(update),
  session_message: (turn, update) => turn.sessionMessage(update),
  session_message_chunk: (turn, update) => turn.sessionMessage(update),
  subagent_update: (turn, update) => turn.subagent(update),
  notice: (turn, update) => turn.notice(update),
  compaction_update: (turn, update) => turn.compaction(update),
  compaction_summary_chunk: (turn, update) => turn.compaction(update),
};

export const conversationHandler = (type: string): UpdateHandler | undefined =>
  Object.hasOwn(handlers, type) ? handlers[type] : undefined;

/**
 * Returns whether an update is part of the conversation that `session/load` replays. Other updates are about the
 * session's state.
 */
export const isConversation = (update: unknown): boolean =>
  conversationHandler(updateType(update)) !== undefined;
