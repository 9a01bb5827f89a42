import type { StreamMessage } from './native.ts';

export type PlainDelta = StreamMessage & {
  event: Extract<StreamMessage['event'], { type: 'content_block_delta' }>;
};

/**
 * Whether a message is a delta and nothing else, by hand: nearly all that Claude Code says is that, and the schema,
 * which everything else goes through, takes ten times as long. What it lets through, the schema would.
 */
export function isPlainDelta(message: unknown): message is PlainDelta {
  if (!isRecord(message) || message['type'] !== 'stream_event') return false;
  const { event, parent_tool_use_id: parent } = message;
  if (typeof parent !== 'string' && parent !== null && parent !== undefined) return false;
  if ('user_message_uuid' in message || 'user_message_uuids' in message) return false;
  return !('abandoned_blocks' in message) && isDelta(event);
}

function isDelta(event: unknown): boolean {
  if (!isRecord(event) || event['type'] !== 'content_block_delta') return false;
  const { index, delta } = event;
  if (!Number.isFinite(index) || !isRecord(delta) || typeof delta['type'] !== 'string')
    return false;
  return isText(delta['text']) && isText(delta['thinking']) && isText(delta['partial_json']);
}

const isText = (value: unknown): boolean => value === undefined || typeof value === 'string';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
