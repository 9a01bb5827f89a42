/** Seed 001’s own schemas (appendix A.1), written a second time, to check the dialect independently. */
import { z } from 'zod';

const id = z.string().uuid();
const maybe = <T extends z.ZodType>(schema: T) => schema.optional();
const common = { id, correlation_id: maybe(id) };
const text = z.string();

const error = z.strictObject({
  code: text,
  message: text,
  stack: maybe(text),
  details: maybe(z.any()),
});

const item = z.discriminatedUnion('type', [
  z.strictObject({
    ...common,
    type: z.literal('message'),
    content: text,
    origin: z.enum(['user', 'agent', 'system']).default('agent'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('reasoning'),
    content: text,
    origin: z.enum(['agent', 'system']).default('agent'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('function_call'),
    name: text,
    arguments: text,
    call_id: id,
    origin: z.enum(['agent']).default('agent'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('function_call_output'),
    call_id: id,
    output: text,
    success: z.boolean(),
    origin: z.enum(['system', 'tool_harness']).default('system'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('script_execution'),
    code: text,
    origin: z.enum(['agent']).default('agent'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('script_execution_output'),
    script_id: id,
    result: text,
    success: z.boolean(),
    error: maybe(z.strictObject({ code: text, message: text, stack: maybe(text) })),
    origin: z.enum(['system', 'script_harness']).default('system'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('error'),
    code: text,
    message: text,
    details: maybe(z.any()),
    origin: z.enum(['agent', 'system', 'provider']).default('system'),
  }),
]);

const usage = z.strictObject({
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  total_tokens: z.number(),
});
const status = z.enum(['queued', 'in_progress', 'complete', 'error', 'aborted']);
const finish = z.string().nullable();

/** A Response of seed 001; further fields are not allowed. */
export const seed001Response = z.strictObject({
  id,
  turn_id: id,
  thread_id: id,
  agent_id: maybe(id),
  model_id: text,
  provider_id: text,
  created_at: z.number(),
  updated_at: z.number(),
  status,
  output_items: z.array(item),
  usage: maybe(usage),
  finish_reason: finish,
  error: maybe(z.strictObject({ code: text, message: text, details: maybe(z.any()) })),
});

const payload = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('response_start'),
    response_id: id,
    turn_id: id,
    thread_id: id,
    agent_id: maybe(id),
    model_id: text,
    provider_id: text,
    created_at: z.number(),
  }),
  z.strictObject({
    type: z.literal('item_start'),
    item_id: id,
    item_type: z.enum([
      'message',
      'reasoning',
      'function_call',
      'function_call_output',
      'script_execution',
      'script_execution_output',
      'error',
    ]),
    initial_content: maybe(text),
    name: maybe(text),
    arguments: maybe(text),
    code: maybe(text),
  }),
  z.strictObject({ type: z.literal('item_delta'), item_id: id, delta_content: text }),
  z.strictObject({ type: z.literal('item_done'), item_id: id, final_item: item }),
  z.strictObject({ type: z.literal('item_error'), item_id: id, error }),
  z.strictObject({ type: z.literal('item_cancelled'), item_id: id, reason: maybe(text) }),
  z.strictObject({ type: z.literal('script_execution_start'), item_id: id, code: text }),
  z.strictObject({
    type: z.literal('script_execution_done'),
    item_id: id,
    result: text,
    success: z.boolean(),
  }),
  z.strictObject({ type: z.literal('script_execution_error'), item_id: id, error }),
  z.strictObject({
    type: z.literal('response_done'),
    response_id: id,
    status,
    usage: maybe(usage),
    finish_reason: finish,
  }),
  z.strictObject({ type: z.literal('response_error'), response_id: id, error }),
  z.strictObject({ type: z.literal('usage_update'), response_id: id, usage: maybe(usage) }),
  z.strictObject({ type: z.literal('heartbeat') }),
  z.strictObject({ type: z.literal('turn_aborted_by_user'), turn_id: id, reason: text }),
]);

/** An event of seed 001; further fields are not allowed, and the payload must have the same type as the event. */
export const seed001Event = z
  .strictObject({
    event_id: id,
    timestamp: z.number(),
    trace_context: z.strictObject({ traceparent: text, tracestate: maybe(text) }),
    run_id: id,
    type: z.enum([
      'response_start',
      'item_start',
      'item_delta',
      'item_done',
      'item_error',
      'item_cancelled',
      'script_execution_start',
      'script_execution_done',
      'script_execution_error',
      'response_done',
      'response_error',
      'heartbeat',
      'turn_aborted_by_user',
      'usage_update',
    ]),
    payload,
  })
  .refine((event) => event.type === event.payload.type, 'two types');
