import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EventPayload } from '../events.ts';
import { emptyResponse, foldResponse, toResponse } from '../folds/response.ts';
import type { Response } from '../response.ts';
import { eventScripts, runOf } from '../testing/index.ts';
import * as say from '../testing/payloads.ts';
import { toOtlp } from './otlp.ts';
import { runSpans } from './run-spans.ts';

const started: EventPayload = {
  type: 'response_start',
  modelId: 'model',
  providerId: 'anthropic',
  parentSpanId: '00f067aa0ba902b7',
};

function folded(...payloads: EventPayload[]): Response {
  return toResponse(runOf([started, ...payloads]).reduce(foldResponse, emptyResponse()))!;
}

const output = (callId: string, success = true, parentCallId?: string): EventPayload => ({
  type: 'item_done',
  itemId: `${callId}:out`,
  finalItem: {
    id: `${callId}:out`,
    type: 'function_call_output',
    callId,
    output: 'the secret result',
    success,
    origin: 'system',
    ...(parentCallId && { parentCallId }),
  },
});
const within = (payload: EventPayload, parentCallId: string) =>
  ({ ...payload, parentCallId }) as EventPayload;
const approval: EventPayload = {
  type: 'item_done',
  itemId: 'q',
  finalItem: {
    id: 'q',
    type: 'approval',
    approvalId: 'q',
    title: 'May I?',
    callId: 'c2',
    options: [{ optionId: 'allow', name: 'Allow', kind: 'allow_once' }],
    outcome: { outcome: 'selected', optionId: 'allow' },
  },
};

/** The model calls a subagent; the subagent reads a file, asks a question, and fails; the model writes a summary. */
const delegated = folded(
  say.messageDone('u', 'the secret prompt', 'user'),
  say.text('a'),
  say.messageDone('a', 'I delegate.'),
  say.call('t', 'delegate', 'c1'),
  say.callDone('t', 'delegate', 'c1', {}),
  within(say.call('r', 'read', 'c2'), 'c1'),
  say.callDone('r', 'read', 'c2', { path: 'secret' }),
  { type: 'item_start', itemId: 'q', itemType: 'approval', approvalId: 'q', callId: 'c2' },
  { type: 'heartbeat' },
  approval,
  output('c2', false, 'c1'),
  output('c1'),
  say.text('b'),
  say.messageDone('b', 'Done.'),
  { type: 'response_done', status: 'completed', usage: { inputTokens: 5, outputTokens: 7 } },
);

test('a run with a subagent, a question and a failure is one tree of spans', () => {
  const spans = runSpans(delegated);
  const names = new Map(spans.map(({ spanId, name }) => [spanId, name]));
  const begin = delegated.createdAt;
  expect(
    spans.map(({ name, parentSpanId, startedAt, endedAt, hasFailed }) => [
      name,
      names.get(parentSpanId!) ?? parentSpanId,
      startedAt - begin,
      endedAt - begin,
      hasFailed,
    ]),
  ).toEqual([
    ['invoke_agent anthropic', '00f067aa0ba902b7', 0, 150, false],
    ['chat model', 'invoke_agent anthropic', 20, 50, false],
    ['execute_tool delegate', 'invoke_agent anthropic', 40, 120, false],
    ['chat model', 'execute_tool delegate', 60, 70, false],
    ['execute_tool read', 'execute_tool delegate', 60, 110, true],
    ['wait_for_approval', 'execute_tool read', 80, 100, false],
    ['chat model', 'invoke_agent anthropic', 130, 140, false],
  ]);
});

test('the span of a script contains the script’s calls; a model call ends when a tool call begins, if the tool call ends only with its answer', () => {
  const run = folded(
    say.call('s', 'run', 'c1'),
    { type: 'script_execution_start', itemId: 'x', code: 'read()', parentCallId: 'c1' },
    within(say.call('r', 'read', 'c2'), 'x'),
    output('c2', true, 'x'),
    say.callDone('r', 'read', 'c2', {}),
    { type: 'script_execution_error', itemId: 'x', error: { code: 'TIMEOUT', message: 'Late.' } },
    { type: 'response_error', error: { code: 'GONE', message: 'secret' } },
  );
  const spans = runSpans(run);
  const [turn, ...rest] = spans;
  const names = new Map(spans.map(({ spanId, name }) => [spanId, name]));
  expect([turn!.hasFailed, turn!.attributes['error.type']]).toEqual([true, 'GONE']);
  expect(
    rest
      .filter(({ name }) => name.startsWith('execute_tool'))
      .map(({ name, parentSpanId, attributes }) => {
        return [name, names.get(parentSpanId!), attributes['error.type']];
      }),
  ).toEqual([
    ['execute_tool run', 'invoke_agent anthropic', 'no_answer'],
    ['execute_tool script', 'execute_tool run', 'TIMEOUT'],
    ['execute_tool read', 'execute_tool script', undefined],
  ]);
  const said = rest.find(({ name, parentSpanId }) => {
    return name === 'chat model' && names.get(parentSpanId!) === 'execute_tool script';
  });
  expect(said!.endedAt - run.createdAt).toBe(30);
});

test('the ids belong to the run’s trace, and are the same each time', () => {
  const spans = runSpans(delegated);
  const [turn] = spans;
  const { traceId, spanId } = turn!;
  expect(delegated.traceContext).toEqual({ traceparent: `00-${traceId}-${spanId}-01` });
  expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
  expect(new Set(spans.map((span) => span.spanId)).size).toBe(spans.length);
  expect(runSpans(structuredClone(delegated))).toEqual(spans);
});

test('a run that was made outside of Liminal has no trace, so its trace id is made from its id', () => {
  const { traceContext: _, ...run } = delegated;
  const [turn] = runSpans(run);
  expect(turn!.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(runSpans({ ...run, id: 'another' })[0]!.traceId).not.toBe(turn!.traceId);
});

test('messages, arguments and results are included only if content is captured', () => {
  expect(JSON.stringify(runSpans(delegated))).not.toContain('secret');
  const told = runSpans(delegated, { captureContent: true });
  const words = (role: string, ...texts: string[]) =>
    JSON.stringify(texts.map((content) => ({ role, parts: [{ type: 'text', content }] })));
  expect(told[0]!.attributes).toMatchObject({
    'gen_ai.input.messages': words('user', 'the secret prompt'),
    'gen_ai.output.messages': words('assistant', 'I delegate.', 'Done.'),
  });
  expect(told[4]!.attributes).toMatchObject({
    'gen_ai.tool.call.arguments': '{"path":"secret"}',
    'gen_ai.tool.call.result': 'the secret result',
  });
});

test('any run gives one tree of valid spans', () => {
  fc.assert(
    fc.property(eventScripts(), (script) => {
      const run = toResponse(script.reduce(foldResponse, emptyResponse()))!;
      const spans = runSpans(run, { captureContent: true });
      const ids = new Set(spans.map(({ spanId }) => spanId));
      expect(ids.size).toBe(spans.length);
      for (const span of spans) {
        expect(span.spanId).toMatch(/^(?!0{16})[0-9a-f]{16}$/);
        expect(span.endedAt).toBeGreaterThanOrEqual(span.startedAt);
      }
      const inside = spans.slice(1);
      expect(inside.every(({ parentSpanId }) => ids.has(parentSpanId!))).toBe(true);
    }),
  );
});

test('in OTLP, times are in nanoseconds, integers are strings, and a failure is a status', () => {
  const spans = toOtlp(runSpans(delegated), 'name').resourceSpans[0]!.scopeSpans[0]!.spans;
  expect(spans[0]).toMatchObject({
    kind: 1,
    startTimeUnixNano: '1767225600000000000',
    endTimeUnixNano: '1767225600150000000',
    status: {},
  });
  expect(spans[0]!.attributes).toContainEqual({
    key: 'gen_ai.usage.output_tokens',
    value: { intValue: '7' },
  });
  expect(spans[4]!.status).toEqual({ code: 2 });
});

/** A run with these items. Each item begins one second after the item before it, and takes one second. */
function runOfItems(...items: Response['outputItems']): Response {
  const { parentSpanId: _, ...run } = folded({ type: 'response_done', status: 'completed' });
  const at = (seconds: number): string => new Date(run.createdAt + seconds * 1_000).toISOString();
  const outputItems = items.map((item, n) => ({ startedAt: at(n), endedAt: at(n + 1), ...item }));
  return { ...run, updatedAt: run.createdAt + 60_000, outputItems };
}

const error = { code: 'BROKEN', message: 'It broke.' };
const saying = { type: 'message', origin: 'agent', content: 'Words.' } as const;
const script = { type: 'script_execution', code: 'read()', origin: 'agent' } as const;

test('a turn without a parent span is the root span, and a model call that was cut off has failed', () => {
  const run = runOfItems(
    { id: 'u', type: 'message', origin: 'user', content: 'Go.' },
    { id: 'a', ...saying },
    { id: 'b', ...saying, error },
    { id: 'p', type: 'plan', entries: [] },
    { id: 'd', type: 'reasoning', origin: 'agent', content: 'Hm.' },
    { id: 's', type: 'message', origin: 'system', content: 'Note.' },
    { id: 'e', ...saying },
    { id: 'f', ...script, error },
  );
  const [turn, ...rest] = runSpans(run);
  expect(turn).not.toHaveProperty('parentSpanId');
  const seconds = (time: number) => (time - run.createdAt) / 1_000;
  expect(
    rest.map(({ name, startedAt, endedAt, hasFailed, attributes }) => [
      name,
      seconds(startedAt),
      seconds(endedAt),
      hasFailed,
      attributes['liminal.inferred'],
    ]),
  ).toEqual([
    // A plan does not end a model call, but a system message does. If a tool call fails, the model call has not failed.
    ['chat model', 1, 5, true, true],
    ['chat model', 6, 8, false, true],
    ['execute_tool script', 7, 8, true, undefined],
  ]);
});

test('a script’s span contains its code and result, and an answer separates two model calls', () => {
  const run = runOfItems(
    { id: 'x', ...script },
    {
      id: 'y',
      type: 'script_execution_output',
      scriptId: 'x',
      result: 'a result',
      success: false,
      origin: 'system',
    },
    { id: 'a', ...saying },
  );
  const [, first, call, second] = runSpans(run, { captureContent: true });
  expect([first?.name, second?.name]).toEqual(['chat model', 'chat model']);
  expect(call).toMatchObject({
    name: 'execute_tool script',
    endedAt: run.createdAt + 2_000,
    hasFailed: true,
    attributes: {
      'gen_ai.tool.call.id': 'x',
      'gen_ai.tool.call.arguments': 'read()',
      'gen_ai.tool.call.result': 'a result',
      'error.type': 'tool_error',
    },
  });
});

test('the time spent waiting for a person is a span in the span of its call; the span contains the outcome, or `waiting`', () => {
  const ask = {
    type: 'approval' as const,
    approvalId: 'q',
    title: 'May I?',
    options: [{ optionId: 'allow', name: 'Allow', kind: 'allow_once' as const }],
  };
  const run = runOfItems(
    { id: 'x', ...script, parentCallId: 'x' },
    { id: 'q1', ...ask, callId: 'x', outcome: { outcome: 'selected', optionId: 'allow' } },
    { id: 'q2', ...ask, parentCallId: 'x', outcome: { outcome: 'cancelled' } },
    { id: 'q3', ...ask, callId: 'unknown', endedAt: undefined, error },
  );
  const [turn, , call, ...waits] = runSpans(run);
  // A call whose parent id is its own id belongs to the turn.
  expect(call).toMatchObject({
    name: 'execute_tool script',
    parentSpanId: turn?.spanId,
    endedAt: run.updatedAt,
  });
  expect(waits).toMatchObject([
    { parentSpanId: call?.spanId, hasFailed: false },
    { parentSpanId: call?.spanId, hasFailed: false },
    { parentSpanId: turn?.spanId, hasFailed: true, endedAt: run.updatedAt },
  ]);
  expect(waits.map(({ attributes }) => attributes)).toEqual([
    { 'liminal.approval.outcome': 'allow', 'gen_ai.tool.call.id': 'x' },
    { 'liminal.approval.outcome': 'cancelled' },
    { 'liminal.approval.outcome': 'waiting', 'gen_ai.tool.call.id': 'unknown' },
  ]);
});

test('a turn’s span contains each of the turn’s token counts under its own name', () => {
  const usage = {
    inputTokens: 5,
    outputTokens: 7,
    cacheReadInputTokens: 3,
    cacheCreationInputTokens: 2,
  };
  const [turn] = runSpans(folded({ type: 'response_done', status: 'completed', usage }));
  expect(turn?.attributes).toMatchObject({
    'gen_ai.usage.input_tokens': 5,
    'gen_ai.usage.output_tokens': 7,
    'gen_ai.usage.cache_read.input_tokens': 3,
    'gen_ai.usage.cache_creation.input_tokens': 2,
  });
});
