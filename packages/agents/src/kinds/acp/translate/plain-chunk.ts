import { isRecord } from './fields.ts';

export interface PlainChunk {
  sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk';
  content: { type: 'text'; text: string };
  messageId?: string | null;
}

/**
 * Returns whether an update is only a piece of text. Nearly all updates are. The check is written by hand, because the
 * schemas need many times as long. Returns false for an update with an unknown field, which the schemas must read.
 */
export function isPlainChunk(update: unknown): update is PlainChunk {
  if (!isRecord(update)) return false;
  const type = update['sessionUpdate'];
  if (type !== 'agent_message_chunk' && type !== 'agent_thought_chunk') return false;
  for (const key in update) {
    if (key !== 'sessionUpdate' && key !== 'content' && key !== 'messageId') return false;
  }
  const { messageId } = update;
  return (messageId == null || typeof messageId === 'string') && isPlainText(update['content']);
}

function isPlainText(content: unknown): boolean {
  if (!isRecord(content) || content['type'] !== 'text') return false;
  for (const key in content) if (key !== 'type' && key !== 'text') return false;
  return typeof content['text'] === 'string';
}
