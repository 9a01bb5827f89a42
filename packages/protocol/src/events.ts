/** The canonical stream event: the only data that is logged (seeds 000 and 001, camelCase). */
import { z } from 'zod';
import { optionalShape } from './fields.ts';
import { baseFields, ErrorObject, itemFields, ItemPatch, ItemType, OutputItem } from './items.ts';
import { TraceContext } from './trace-context.ts';
import { Usage } from './usage.ts';

export const ResponseStartPayload = z.object({
  type: z.literal('response_start'),
  modelId: z.string(),
  providerId: z.string(),
  agentId: z.string().optional(),
  /**
   * Who started the turn: a user's message (`user`), or the agent itself, for example after a background task
   * (`agent`).
   */
  trigger: z.enum(['user', 'agent']).optional(),
  /**
   * The span of the request that started the turn, if the request had a trace. Set by Liminal's turn, not by the agent.
   */
  parentSpanId: z.string().optional(),
});

const { name, title, ...others } = optionalShape(itemFields.function_call, 'start');
/** The fields of a call in the order of the published documents; the id may be empty. */
const callFields = { name, callId: z.string().optional(), ...others, title };

/** The start of an item, with the fields of its type that are known at the start. */
export const ItemStartPayload = z.object({
  type: z.literal('item_start'),
  itemId: z.string().min(1),
  itemType: ItemType,
  initialContent: z.string().optional(),
  /**
   * The speaker of messages and reasoning. User messages are shown only when they are complete, or if they have a
   * `delivery`.
   */
  origin: z.enum(['user', 'agent', 'system']).optional(),
  ...optionalShape(itemFields.message, 'start'),
  ...optionalShape(baseFields, 'start'),
  ...callFields,
  ...optionalShape(itemFields.script_execution, 'start'),
  /** May be empty. */
  approvalId: z.string().optional(),
  ...optionalShape(itemFields.approval, 'start'),
  ...optionalShape(itemFields.plan, 'start'),
  ...optionalShape(itemFields.file_changes, 'start'),
});
export type ItemStartPayload = z.infer<typeof ItemStartPayload>;

export const ItemDeltaPayload = z.object({
  type: z.literal('item_delta'),
  itemId: z.string().min(1),
  /** The text to append to the item: to a message's or reasoning's content, a call's arguments, or an output. */
  deltaContent: z.string(),
  /** New values of the item's other fields. */
  patch: ItemPatch.optional(),
});
export type ItemDeltaPayload = z.infer<typeof ItemDeltaPayload>;

export const ItemDonePayload = z.object({
  type: z.literal('item_done'),
  itemId: z.string().min(1),
  finalItem: OutputItem,
});

export const ItemErrorPayload = z.object({
  type: z.literal('item_error'),
  itemId: z.string().min(1),
  error: ErrorObject,
});

/** The item was withdrawn: readers must remove it. */
export const ItemCancelledPayload = z.object({
  type: z.literal('item_cancelled'),
  itemId: z.string().min(1),
  reason: z.string().optional(),
});

export const ScriptExecutionStartPayload = z.object({
  type: z.literal('script_execution_start'),
  itemId: z.string().min(1),
  code: z.string(),
  /** The id of the call that runs the script. */
  parentCallId: z.string().optional(),
});

export const ScriptExecutionDonePayload = z.object({
  type: z.literal('script_execution_done'),
  itemId: z.string().min(1),
  result: z.string(),
  success: z.boolean(),
});

export const ScriptExecutionErrorPayload = z.object({
  type: z.literal('script_execution_error'),
  itemId: z.string().min(1),
  error: ErrorObject,
});

export const UsageUpdatePayload = z.object({ type: z.literal('usage_update'), usage: Usage });

/** Sent while the run produces no other events, to show that the run is alive. */
export const HeartbeatPayload = z.object({ type: z.literal('heartbeat') });

/** The user has asked to stop the turn; the terminal event still follows. */
export const TurnAbortedByUserPayload = z.object({
  type: z.literal('turn_aborted_by_user'),
  reason: z.string(),
});

export const ResponseDonePayload = z.object({
  type: z.literal('response_done'),
  status: z.enum(['completed', 'cancelled', 'error']),
  finishReason: z.string().nullish(),
  /** With status `error`: the error with which the turn failed. */
  error: ErrorObject.optional(),
  usage: Usage.optional(),
  /** With status `completed`, for a turn of the server: see Response. */
  rewoundTo: z.string().optional(),
});

export const ResponseErrorPayload = z.object({
  type: z.literal('response_error'),
  error: ErrorObject,
  usage: Usage.optional(),
});

export const EventPayload = z.discriminatedUnion('type', [
  ResponseStartPayload,
  ItemStartPayload,
  ItemDeltaPayload,
  ItemDonePayload,
  ItemErrorPayload,
  ItemCancelledPayload,
  ScriptExecutionStartPayload,
  ScriptExecutionDonePayload,
  ScriptExecutionErrorPayload,
  UsageUpdatePayload,
  HeartbeatPayload,
  TurnAbortedByUserPayload,
  ResponseDonePayload,
  ResponseErrorPayload,
]);
export type EventPayload = z.infer<typeof EventPayload>;
export type EventType = EventPayload['type'];

const envelope = {
  /** `<runId>:<seq>`; also the cursor of a reader that has received the event. */
  eventId: z.string().min(1),
  /** Numbers the events of a run from 0, without a gap (invariant 1). */
  seq: z.number().int().nonnegative(),
  /** The time at which the source produced the event, ISO 8601 UTC. */
  timestamp: z.iso.datetime(),
  sessionId: z.string().min(1),
  turnId: z.string().min(1),
  runId: z.string().min(1),
  traceContext: TraceContext,
};

const variant = <T extends z.ZodObject<{ type: z.ZodLiteral<string> }>>(payload: T) => {
  const type: T['shape']['type'] = payload.shape.type;
  return z.object({ ...envelope, type, payload });
};

/** One change to an item or a turn. The outer `type` equals the payload's. */
export const StreamEvent = z.discriminatedUnion('type', [
  variant(ResponseStartPayload),
  variant(ItemStartPayload),
  variant(ItemDeltaPayload),
  variant(ItemDonePayload),
  variant(ItemErrorPayload),
  variant(ItemCancelledPayload),
  variant(ScriptExecutionStartPayload),
  variant(ScriptExecutionDonePayload),
  variant(ScriptExecutionErrorPayload),
  variant(UsageUpdatePayload),
  variant(HeartbeatPayload),
  variant(TurnAbortedByUserPayload),
  variant(ResponseDonePayload),
  variant(ResponseErrorPayload),
]);
export type StreamEvent = z.infer<typeof StreamEvent>;

/** An event from a provider that the run's only writer has not numbered yet. */
export interface EventDraft {
  turnId: string;
  /** ISO 8601 UTC. */
  timestamp: string;
  payload: EventPayload;
}

/** The fields that all events of a run share. */
export interface RunEnvelope {
  sessionId: string;
  runId: string;
  traceContext: TraceContext;
}

/** Returns a draft as an event with its number in the run. */
export function stampEvent(draft: EventDraft, run: RunEnvelope, seq: number): StreamEvent {
  return {
    eventId: `${run.runId}:${seq}`,
    seq,
    timestamp: draft.timestamp,
    sessionId: run.sessionId,
    turnId: draft.turnId,
    runId: run.runId,
    traceContext: run.traceContext,
    type: draft.payload.type,
    payload: draft.payload,
    // The union of variants cannot be built from a union of payloads without a cast; the type is the payload's own.
  } as StreamEvent;
}

/** Returns whether the event is the last of its run (invariant 2). */
export function isTerminal(event: { type: EventType }): boolean {
  return event.type === 'response_done' || event.type === 'response_error';
}
