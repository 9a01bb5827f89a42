/** The updates that belong to a turn, each with its reader. */
import { typeOf } from './fields.ts';
import type { AcpTurn } from './turn.ts';

type Reader = (turn: AcpTurn, update: unknown) => void;

const readers: Record<string, Reader> = {
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

export const conversationReader = (type: string): Reader | undefined =>
  Object.hasOwn(readers, type) ? readers[type] : undefined;

/** Whether an update is part of the conversation, which `session/load` replays, rather than session state. */
export const isConversation = (update: unknown): boolean =>
  conversationReader(typeOf(update)) !== undefined;
