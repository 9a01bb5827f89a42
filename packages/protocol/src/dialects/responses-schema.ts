/** The wire form of seed 001, appendix A.1: snake case, times in ms since the epoch, and every id a UUID. */
import { z } from 'zod';
import { ResponseStatus } from '../response.ts';

const optional = <T extends z.ZodType>(schema: T) => schema.optional();

const failure = z.object({
  code: z.string(),
  message: z.string(),
  stack: optional(z.string()),
  details: optional(z.unknown()),
});
const usage = z.object({
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  total_tokens: z.number(),
});
const base = { id: z.uuid(), correlation_id: optional(z.uuid()) };

export const ResponsesItem = z.discriminatedUnion('type', [
  z.object({
    ...base,
    type: z.literal('message'),
    content: z.string(),
    origin: z.enum(['user', 'agent', 'system']),
  }),
  z.object({
    ...base,
    type: z.literal('reasoning'),
    content: z.string(),
    origin: z.enum(['agent', 'system']),
  }),
  z.object({
    ...base,
    type: z.literal('function_call'),
    name: z.string(),
    /** A JSON string. */
    arguments: z.string(),
    call_id: z.uuid(),
    origin: z.literal('agent'),
  }),
  z.object({
    ...base,
    type: z.literal('function_call_output'),
    call_id: z.uuid(),
    output: z.string(),
    success: z.boolean(),
    origin: z.enum(['system', 'tool_harness']),
  }),
  z.object({
    ...base,
    type: z.literal('script_execution'),
    code: z.string(),
    origin: z.literal('agent'),
  }),
  z.object({
    ...base,
    type: z.literal('script_execution_output'),
    script_id: z.uuid(),
    /** A JSON string. */
    result: z.string(),
    success: z.boolean(),
    error: optional(failure.omit({ details: true })),
    origin: z.enum(['system', 'script_harness']),
  }),
  z.object({
    ...base,
    type: z.literal('error'),
    code: z.string(),
    message: z.string(),
    details: optional(z.unknown()),
    origin: z.enum(['agent', 'system', 'provider']),
  }),
]);
export type ResponsesItem = z.infer<typeof ResponsesItem>;

/** A run as a whole. */
export const ResponsesResponse = z.object({
  id: z.uuid(),
  turn_id: z.uuid(),
  thread_id: z.uuid(),
  agent_id: optional(z.uuid()),
  model_id: z.string(),
  provider_id: z.string(),
  created_at: z.number(),
  updated_at: z.number(),
  status: ResponseStatus,
  output_items: z.array(ResponsesItem),
  usage: optional(usage),
  finish_reason: z.string().nullable(),
  error: optional(failure.omit({ stack: true })),
});
export type ResponsesResponse = z.infer<typeof ResponsesResponse>;

const payload = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.object({ type: z.literal(type), ...shape });

export const ResponsesPayload = z.discriminatedUnion('type', [
  payload('response_start', {
    response_id: z.uuid(),
    turn_id: z.uuid(),
    thread_id: z.uuid(),
    agent_id: optional(z.uuid()),
    model_id: z.string(),
    provider_id: z.string(),
    created_at: z.number(),
  }),
  payload('item_start', {
    item_id: z.uuid(),
    item_type: z.enum(ResponsesItem.options.map(({ shape }) => shape.type.value)),
    initial_content: optional(z.string()),
    name: optional(z.string()),
    arguments: optional(z.string()),
    code: optional(z.string()),
  }),
  payload('item_delta', { item_id: z.uuid(), delta_content: z.string() }),
  payload('item_done', { item_id: z.uuid(), final_item: ResponsesItem }),
  payload('item_error', { item_id: z.uuid(), error: failure }),
  payload('item_cancelled', { item_id: z.uuid(), reason: optional(z.string()) }),
  payload('script_execution_start', { item_id: z.uuid(), code: z.string() }),
  payload('script_execution_done', {
    item_id: z.uuid(),
    result: z.string(),
    success: z.boolean(),
  }),
  payload('script_execution_error', { item_id: z.uuid(), error: failure }),
  payload('usage_update', { response_id: z.uuid(), usage }),
  payload('heartbeat', {}),
  payload('turn_aborted_by_user', { turn_id: z.uuid(), reason: z.string() }),
  payload('response_done', {
    response_id: z.uuid(),
    status: ResponseStatus,
    usage: optional(usage),
    finish_reason: z.string().nullable(),
  }),
  payload('response_error', { response_id: z.uuid(), error: failure }),
]);
export type ResponsesPayload = z.infer<typeof ResponsesPayload>;

/** One change to an item or a run. The outer `type` equals the payload's. */
export const ResponsesEvent = z.object({
  event_id: z.uuid(),
  timestamp: z.number(),
  trace_context: z.object({ traceparent: z.string(), tracestate: optional(z.string()) }),
  run_id: z.uuid(),
  type: z.enum(ResponsesPayload.options.map(({ shape }) => shape.type.value)),
  payload: ResponsesPayload,
});
export type ResponsesEvent = z.infer<typeof ResponsesEvent>;
