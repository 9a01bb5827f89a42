/**
 * Schemas of the parts of Claude Code's messages that Liminal reads, as found in testkit's recordings; other fields
 * pass unchanged.
 */
import { z } from 'zod';
import { Origin } from './origin.ts';

/** An id; an empty id is read as missing. */
const Id = z
  .string()
  .transform((id) => (id === '' ? undefined : id))
  .optional();

export const NativeBlock = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  thinking: z.string().optional(),
  id: Id,
  name: z.string().optional(),
  input: z.unknown().optional(),
  tool_use_id: Id,
  content: z.unknown().optional(),
  is_error: z.boolean().nullish(),
});
export type NativeBlock = z.infer<typeof NativeBlock>;

/** A number of tokens; an invalid number is read as missing. */
const count = z.number().nonnegative().nullish().catch(undefined);

const NativeUsage = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
});
export type NativeUsage = z.infer<typeof NativeUsage>;

const MessageContent = z
  .union([z.string(), z.array(NativeBlock)])
  .transform((content) =>
    typeof content === 'string' ? [NativeBlock.parse({ type: 'text', text: content })] : content,
  );

/** The ids of the user messages that a turn answers, in order. */
const answering = {
  user_message_uuid: z.string().optional(),
  user_message_uuids: z.array(z.string()).optional(),
};

const AssistantMessage = z.looseObject({
  ...answering,
  type: z.literal('assistant'),
  message: z.looseObject({ id: z.string(), model: z.string(), content: MessageContent }),
  parent_tool_use_id: z.string().nullish(),
  error: z.string().optional(),
  is_api_error_message: z.boolean().optional(),
  uuid: z.string().optional(),
  /** The `uuid`s of messages that this message replaces. */
  supersedes: z.array(z.string()).optional(),
});
export type AssistantMessage = z.infer<typeof AssistantMessage>;

const UserMessage = z.looseObject({
  type: z.literal('user'),
  message: z.looseObject({ content: MessageContent }),
  parent_tool_use_id: z.string().nullish(),
  isSynthetic: z.boolean().optional(),
  tool_use_result: z.unknown().optional(),
  origin: Origin.optional().catch(undefined),
});
export type UserMessage = z.infer<typeof UserMessage>;

const ApiEvent = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('message_start'),
    message: z.looseObject({ id: z.string(), model: z.string(), usage: NativeUsage.optional() }),
  }),
  z.looseObject({
    type: z.literal('content_block_start'),
    index: z.number(),
    content_block: NativeBlock,
  }),
  z.looseObject({
    type: z.literal('content_block_delta'),
    index: z.number(),
    delta: z.looseObject({
      type: z.string(),
      text: z.string().optional(),
      thinking: z.string().optional(),
      partial_json: z.string().optional(),
    }),
  }),
  z.looseObject({ type: z.literal('content_block_stop'), index: z.number() }),
  z.looseObject({
    type: z.literal('message_delta'),
    delta: z.looseObject({ stop_reason: z.string().nullish() }),
    usage: NativeUsage.optional(),
  }),
  z.looseObject({ type: z.literal('message_stop') }),
]);
export type ApiEvent = z.infer<typeof ApiEvent>;

export const StreamMessage = z.looseObject({
  ...answering,
  type: z.literal('stream_event'),
  event: z.union([ApiEvent, z.looseObject({ type: z.literal('ping') })]),
  parent_tool_use_id: z.string().nullish(),
  /** Set in the last event of a broken stream: the message's blocks from this index on are abandoned. */
  abandoned_blocks: z.looseObject({ from_block_index: z.number() }).optional(),
});
export type StreamMessage = z.infer<typeof StreamMessage>;

const tokens = z.number().nonnegative().catch(0);

const ModelUsage = z.looseObject({
  inputTokens: tokens,
  outputTokens: tokens,
  cacheReadInputTokens: tokens,
  cacheCreationInputTokens: tokens,
  contextWindow: z.number().nonnegative().optional().catch(undefined),
});
export type ModelUsage = z.infer<typeof ModelUsage>;

const ResultMessage = z.looseObject({
  ...answering,
  type: z.literal('result'),
  subtype: z.string(),
  is_error: z.boolean(),
  stop_reason: z.string().nullish(),
  terminal_reason: z.string().optional(),
  api_error_status: z.number().nullish(),
  api_error: z.string().optional(),
  result: z.string().optional(),
  errors: z.array(z.string()).optional(),
  origin: Origin.optional().catch(undefined),
  usage: NativeUsage.optional(),
  total_cost_usd: z.number().optional(),
  modelUsage: z.record(z.string(), ModelUsage).optional(),
  /** The usage of this turn's model calls, including subagents, which `usage` omits. */
  model_usage_since_last_result: z.record(z.string(), ModelUsage).optional(),
});
export type ResultMessage = z.infer<typeof ResultMessage>;

const SystemMessage = z.looseObject({
  ...answering,
  type: z.literal('system'),
  subtype: z.string(),
  session_id: z.string().optional(),
  model: z.string().optional(),
  permissionMode: z.string().optional(),
  status: z.string().nullish(),
  compact_result: z.string().optional(),
  compact_error: z.string().optional(),
  content: z.string().optional(),
  text: z.string().optional(),
});
export type SystemMessage = z.infer<typeof SystemMessage>;

/** The state of a user message that was sent with a `uuid`. The SDK's types lack this state. */
const CommandLifecycle = z.looseObject({
  type: z.literal('command_lifecycle'),
  command_uuid: z.string(),
  state: z.string(),
});

const NativeMessage = z.discriminatedUnion('type', [
  AssistantMessage,
  UserMessage,
  StreamMessage,
  ResultMessage,
  SystemMessage,
  CommandLifecycle,
]);
export type NativeMessage = z.infer<typeof NativeMessage>;

/** Returns the parsed message; undefined if the message's type is unknown. */
export const parseNative = (message: unknown): NativeMessage | undefined =>
  isPlainDelta(message) ? message : NativeMessage.safeParse(message).data;

export type PlainDelta = StreamMessage & {
  event: Extract<StreamMessage['event'], { type: 'content_block_delta' }>;
};

/**
 * Returns whether a message is only a delta. The check does not use the schema, because nearly all messages are deltas,
 * and the schema needs ten times as long. The schema accepts every message that this function accepts.
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
  return (
    isOptionalString(delta['text']) &&
    isOptionalString(delta['thinking']) &&
    isOptionalString(delta['partial_json'])
  );
}

const isOptionalString = (value: unknown): boolean =>
  value === undefined || typeof value === 'string';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
