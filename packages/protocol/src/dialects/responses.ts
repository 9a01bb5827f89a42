/** Converts events and Responses to the wire form of seed 001, appendix A.1: each event becomes one event. */
import type { ErrorObject, OutputItem } from '../items.ts';
import type { EventPayload, StreamEvent } from '../events.ts';
import type { Response } from '../response.ts';
import type { Usage } from '../usage.ts';
import type {
  ResponsesEvent,
  ResponsesItem,
  ResponsesPayload,
  ResponsesResponse,
} from './responses-schema.ts';
import { approvalText, diffsText, planText } from './texts.ts';

/** Returns the UUID for an id; always the same UUID for the same id. A UUID is returned unchanged. */
export type UuidOf = (id: string) => string;

type Payload<T extends EventPayload['type']> = Extract<EventPayload, { type: T }>;
type Item<T extends OutputItem['type']> = Extract<OutputItem, { type: T }>;
interface TranslationContext {
  event: StreamEvent;
  uuidOf: UuidOf;
}

const statuses = { completed: 'complete', cancelled: 'aborted', error: 'error' } as const;

/** The translation of each payload type. */
const payloads: {
  [T in EventPayload['type']]: (
    payload: Payload<T>,
    context: TranslationContext,
  ) => ResponsesPayload;
} = {
  response_start: ({ type, modelId, providerId, agentId }, { event, uuidOf }) => ({
    type,
    response_id: uuidOf(event.runId),
    turn_id: uuidOf(event.turnId),
    thread_id: uuidOf(event.sessionId),
    ...(agentId !== undefined && { agent_id: uuidOf(agentId) }),
    model_id: modelId,
    provider_id: providerId,
    created_at: Date.parse(event.timestamp),
  }),
  item_start: (payload, { uuidOf }) => {
    const { type, itemId, itemType, name, arguments: given, code } = payload;
    const content = payload.initialContent ?? initialText(payload);
    return {
      type,
      item_id: uuidOf(itemId),
      item_type: isExtraType(itemType) ? 'message' : itemType,
      ...(content !== undefined && { initial_content: content }),
      ...(name !== undefined && { name }),
      ...(given !== undefined && { arguments: given }),
      ...(code !== undefined && { code }),
    };
  },
  item_delta: ({ type, itemId, deltaContent }, { uuidOf }) => ({
    type,
    item_id: uuidOf(itemId),
    delta_content: deltaContent,
  }),
  item_done: ({ type, itemId, finalItem }, { uuidOf }) => ({
    type,
    item_id: uuidOf(itemId),
    final_item: toResponsesItem(finalItem, uuidOf),
  }),
  item_error: ({ type, itemId, error }, { uuidOf }) => ({
    type,
    item_id: uuidOf(itemId),
    error: toFailure(error),
  }),
  item_cancelled: ({ type, itemId, reason }, { uuidOf }) => ({
    type,
    item_id: uuidOf(itemId),
    ...(reason !== undefined && { reason }),
  }),
  script_execution_start: ({ type, itemId, code }, { uuidOf }) => ({
    type,
    item_id: uuidOf(itemId),
    code,
  }),
  script_execution_done: ({ type, itemId, result, success }, { uuidOf }) => ({
    type,
    item_id: uuidOf(itemId),
    result,
    success,
  }),
  script_execution_error: ({ type, itemId, error }, { uuidOf }) => ({
    type,
    item_id: uuidOf(itemId),
    error: toFailure(error),
  }),
  usage_update: ({ type, usage }, { event, uuidOf }) => ({
    type,
    response_id: uuidOf(event.runId),
    usage: toUsage(usage),
  }),
  heartbeat: ({ type }) => ({ type }),
  turn_aborted_by_user: ({ type, reason }, { event, uuidOf }) => ({
    type,
    turn_id: uuidOf(event.turnId),
    reason,
  }),
  // A.1's response_done has no field for an error.
  response_done: ({ status, error, usage, finishReason }, { event, uuidOf }) =>
    error
      ? { type: 'response_error', response_id: uuidOf(event.runId), error: toFailure(error) }
      : {
          type: 'response_done',
          response_id: uuidOf(event.runId),
          status: statuses[status],
          ...(usage && { usage: toUsage(usage) }),
          finish_reason: finishReason ?? null,
        },
  response_error: ({ type, error }, { event, uuidOf }) => ({
    type,
    response_id: uuidOf(event.runId),
    error: toFailure(error),
  }),
};

/** The translation of each item type. An item whose type A.1 lacks becomes a system message with a text. */
const items: {
  [T in OutputItem['type']]: (item: Item<T>, base: { id: string }, uuidOf: UuidOf) => ResponsesItem;
} = {
  message: ({ type, content, origin }, base) => ({ ...base, type, content, origin }),
  reasoning: ({ type, content, origin }, base) => ({ ...base, type, content, origin }),
  function_call: ({ type, name, arguments: given, callId, origin }, base, uuidOf) => ({
    ...base,
    type,
    name,
    arguments: given,
    call_id: uuidOf(callId),
    origin,
  }),
  function_call_output: ({ type, callId, output, success, origin }, base, uuidOf) => ({
    ...base,
    type,
    call_id: uuidOf(callId),
    output,
    success,
    origin,
  }),
  script_execution: ({ type, code, origin }, base) => ({ ...base, type, code, origin }),
  script_execution_output: (item, base, uuidOf) => {
    const { type, scriptId, result, success, error, origin } = item;
    const known = { ...base, type, script_id: uuidOf(scriptId), result, success, origin };
    if (!error) return known;
    const { code, message, stack } = error;
    return { ...known, error: { code, message, ...(stack !== undefined && { stack }) } };
  },
  error: ({ type, code, message, details, origin }, base) => ({
    ...base,
    type,
    code,
    message,
    ...(details !== undefined && { details }),
    origin,
  }),
  plan: ({ entries }, base) => systemMessage(base, planText(entries)),
  file_changes: ({ diffs }, base) => systemMessage(base, diffsText(diffs)),
  approval: (item, base) => systemMessage(base, approvalText(item)),
};

/**
 * Returns an event in A.1's form. A `response_done` with an error becomes a `response_error`; other types do not
 * change.
 */
export function toResponsesEvent(event: StreamEvent, uuidOf: UuidOf): ResponsesEvent {
  // `payloads[event.type]` accepts the payload of this event, but the compiler cannot infer that the types match.
  const translate = payloads[event.type] as (
    one: EventPayload,
    context: TranslationContext,
  ) => ResponsesPayload;
  const payload = translate(event.payload, { event, uuidOf });
  return {
    event_id: uuidOf(event.eventId),
    timestamp: Date.parse(event.timestamp),
    trace_context: event.traceContext,
    run_id: uuidOf(event.runId),
    type: payload.type,
    payload,
  };
}

/** Returns a whole run in A.1's form. */
export function toResponsesResponse(run: Response, uuidOf: UuidOf): ResponsesResponse {
  const { agentId, usage, error } = run;
  return {
    id: uuidOf(run.id),
    turn_id: uuidOf(run.turnId),
    thread_id: uuidOf(run.sessionId),
    ...(agentId !== undefined && { agent_id: uuidOf(agentId) }),
    model_id: run.modelId,
    provider_id: run.providerId,
    created_at: run.createdAt,
    updated_at: run.updatedAt,
    status: run.status,
    output_items: run.outputItems.map((item) => toResponsesItem(item, uuidOf)),
    ...(usage && { usage: toUsage(usage) }),
    finish_reason: run.finishReason,
    ...(error && { error: toFailure({ ...error, stack: undefined }) }),
  };
}

function toResponsesItem(item: OutputItem, uuidOf: UuidOf): ResponsesItem {
  const { id, correlationId } = item;
  const base = {
    id: uuidOf(id),
    ...(correlationId !== undefined && { correlation_id: uuidOf(correlationId) }),
  };
  const translate = items[item.type] as (
    one: OutputItem,
    common: typeof base,
    of: UuidOf,
  ) => ResponsesItem;
  return translate(item, base, uuidOf);
}

function isExtraType(type: OutputItem['type']): type is 'plan' | 'file_changes' | 'approval' {
  return type === 'plan' || type === 'file_changes' || type === 'approval';
}

function systemMessage(base: { id: string }, content: string): ResponsesItem {
  return { ...base, type: 'message', content, origin: 'system' };
}

/** Returns the first text of an item that becomes a message in A.1. */
function initialText(start: Payload<'item_start'>): string | undefined {
  if (start.itemType === 'plan') return planText(start.entries ?? []);
  if (start.itemType === 'file_changes') return diffsText(start.diffs ?? []);
  return start.itemType === 'approval' ? approvalText(start) : undefined;
}

function toUsage({ inputTokens, outputTokens }: Usage) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

function toFailure({ code, message, stack, details }: ErrorObject): ErrorObject {
  return {
    code,
    message,
    ...(stack !== undefined && { stack }),
    ...(details !== undefined && { details }),
  };
}
