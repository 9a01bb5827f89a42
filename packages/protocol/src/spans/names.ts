/**
 * Maps our terms to OpenTelemetry's semantic conventions for generative AI. The conventions are still in development;
 * this file uses the version in `schemaUrl`. Attributes for which there is no convention have names that begin with
 * `liminal.`.
 */
import type { Response } from '../response.ts';
import type { Usage } from '../usage.ts';

export const schemaUrl = 'https://opentelemetry.io/schemas/1.41.0';

export type AttributeValue = string | number | boolean;
export type Attributes = Readonly<Record<string, AttributeValue>>;

export function turnAttributes(run: Response): Attributes {
  return {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.provider.name': run.providerId,
    'gen_ai.agent.name': run.agentId ?? run.providerId,
    'gen_ai.request.model': run.modelId,
    'gen_ai.conversation.id': run.sessionId,
    'liminal.run.id': run.id,
    'liminal.turn.id': run.turnId,
    'liminal.status': run.status,
    ...(run.usage && usageAttributes(run.usage)),
    ...(run.error && { 'error.type': run.error.code }),
  };
}

/** @param isGuess - Whether the call's times were inferred from its items. */
export function modelCallAttributes(run: Response, isGuess: boolean): Attributes {
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': run.providerId,
    'gen_ai.request.model': run.modelId,
    'gen_ai.conversation.id': run.sessionId,
    'liminal.inferred': isGuess,
  };
}

export function toolAttributes(name: string, callId: string, failure?: string): Attributes {
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.id': callId,
    ...(failure !== undefined && { 'error.type': failure }),
  };
}

/** Returns the arguments and the result of a tool, included only if content is captured. */
export function toolContent(args: string, result: string | undefined): Attributes {
  return {
    'gen_ai.tool.call.arguments': args,
    ...(result !== undefined && { 'gen_ai.tool.call.result': result }),
  };
}

/** The messages of a model call, included only if content is captured. */
export function messageContent(input: readonly string[], output: readonly string[]): Attributes {
  return {
    'gen_ai.input.messages': messages('user', input),
    'gen_ai.output.messages': messages('assistant', output),
  };
}

export function approvalAttributes(outcome: string, callId: string | undefined): Attributes {
  return {
    'liminal.approval.outcome': outcome,
    ...(callId !== undefined && { 'gen_ai.tool.call.id': callId }),
  };
}

/** Returns the attributes for the span of a request that sent a message or had a trace, by the conventions for HTTP. */
export function requestAttributes(request: {
  method: string;
  /** The path in the operation's declaration, with its parameters: `/api/session/:id/send`. */
  route: string;
  status: number;
  sessionId: string | undefined;
}): Attributes {
  const { method, route, status, sessionId } = request;
  return {
    'http.request.method': method,
    'http.route': route,
    'http.response.status_code': status,
    ...(sessionId !== undefined && { 'gen_ai.conversation.id': sessionId }),
    ...(status >= 500 && { 'error.type': String(status) }),
  };
}

/**
 * Returns the attributes for the output of a model call that was retried; history lacks that output. `items` is the
 * number of withdrawn items.
 */
export function withdrawnAttributes(items: number): Attributes {
  return { 'gen_ai.operation.name': 'chat', 'liminal.withdrawn': true, 'liminal.items': items };
}

/** Attributes of the span of a stage, which consists of many short operations of a run; the values are sums. */
export function stageAttributes(stage: {
  runId: string;
  /** The number of operations, and the number of operations that failed. */
  calls: number;
  failures: number;
  /** The time of all operations together, and the time of the slowest, in ms. */
  busyMs: number;
  slowestMs: number;
  /** Other counts of the operations, by name: `events`, `bytes`. */
  counts: Readonly<Record<string, number>>;
}): Attributes {
  const { runId, calls, failures, busyMs, slowestMs, counts } = stage;
  const counted = Object.entries(counts).map(([name, count]) => [`liminal.${name}`, count]);
  return {
    'liminal.run.id': runId,
    'liminal.calls': calls,
    'liminal.failures': failures,
    'liminal.busy_ms': busyMs,
    'liminal.slowest_ms': slowestMs,
    ...(Object.fromEntries(counted) as Record<string, number>),
  };
}

function usageAttributes(usage: Usage): Attributes {
  const { cacheReadInputTokens: read, cacheCreationInputTokens: made } = usage;
  return {
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    ...(read !== undefined && { 'gen_ai.usage.cache_read.input_tokens': read }),
    ...(made !== undefined && { 'gen_ai.usage.cache_creation.input_tokens': made }),
  };
}

function messages(role: string, texts: readonly string[]): string {
  return JSON.stringify(texts.map((content) => ({ role, parts: [{ type: 'text', content }] })));
}
