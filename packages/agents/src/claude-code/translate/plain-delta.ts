import type { StreamMessage } from './native.ts';

export type PlainDelta = StreamMessage & {
  event: Extract<StreamMessage['event'], { type: 'content_block_delta' }>;
};

/**
 * Whether a message is only a delta, checked by hand: nearly all messages are, and the schema for all others takes ten
 * times as long. The schema would accept whatever is accepted here.
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
