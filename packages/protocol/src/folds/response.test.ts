import { describe, expect, it } from 'vitest';
import type { EventPayload, StreamEvent } from '../events.ts';
import { Response } from '../response.ts';
import * as say from '../testing/payloads.ts';
import { runOf } from '../testing/run-of.ts';
import { closeOpenItems } from './close-open-items.ts';
import { emptyResponse, foldResponse, toResponse } from './response.ts';

const start: EventPayload = {
  type: 'response_start',
  modelId: 'model',
  providerId: 'anthropic',
  trigger: 'user',
};
const fold = (events: StreamEvent[]) => events.reduce(foldResponse, emptyResponse());

function folded(...payloads: EventPayload[]): Response {
  const response = toResponse(fold(runOf([start, ...payloads])));
  if (!response) throw new Error('no Response');
  return response;
}

const items = (...payloads: EventPayload[]) => folded(...payloads).outputItems;
const time = (seq: number) => new Date(Date.UTC(2026, 0, 1) + seq * 10).toISOString();

describe('a Response', () => {
  it('is undefined before response_start', () => {
    const [, item] = runOf([start, say.text('a')]);
    expect(toResponse(emptyResponse())).toBeUndefined();
    expect(toResponse(fold(item ? [item] : []))).toBeUndefined();
  });

  it('has the agent, the times and the last folded event', () => {
    expect(folded(say.text('a'), say.delta('a', 'Hi'))).toEqual({
      id: 'run-1',
      turnId: 'turn-1',
      sessionId: 'session-1',
      modelId: 'model',
      providerId: 'anthropic',
      traceContext: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
      trigger: 'user',
      createdAt: Date.parse(time(0)),
      updatedAt: Date.parse(time(2)),
      status: 'in_progress',
      finishReason: null,
      lastSeq: 2,
      outputItems: [
        { id: 'a', type: 'message', content: 'Hi', origin: 'agent', startedAt: time(1) },
      ],
    });
  });

  it('keeps items in the order of their start, and stamps start and end', () => {
    const response = folded(
      say.text('a'),
      say.text('b', 'reasoning'),
      say.reasoningDone('b', 'Hm.'),
      say.messageDone('a', 'Hi'),
    );
    expect(response.outputItems).toMatchObject([
      { id: 'a', startedAt: time(1), endedAt: time(4) },
      { id: 'b', startedAt: time(2), endedAt: time(3) },
    ]);
  });

  it('ends with the status of its terminal event', () => {
    const error = { code: 'API_ERROR', message: 'It broke.' };
    const usage = { inputTokens: 1, outputTokens: 2 };
    expect(folded(say.completed)).toMatchObject({ status: 'complete', usage });
    expect(folded({ type: 'response_done', status: 'cancelled' }).status).toBe('aborted');
    expect(folded({ type: 'response_done', status: 'error', error })).toMatchObject({
      status: 'error',
      error,
    });
    expect(folded({ type: 'response_error', error, usage })).toMatchObject({
      status: 'error',
      error,
      usage,
    });
  });

  it('is not changed by events after its terminal event, or by events that were folded before', () => {
    const events = runOf([start, say.text('a'), say.completed, say.delta('a', 'late')]);
    const ended = fold(events.slice(0, 3));
    for (const event of events) expect(foldResponse(ended, event)).toBe(ended);
  });

  it('has, of each token count, the last value that was reported', () => {
    const early = { inputTokens: 9, outputTokens: 0, contextTokens: 50 };
    expect(folded({ type: 'usage_update', usage: early }, say.completed).usage).toEqual({
      inputTokens: 1,
      outputTokens: 2,
      contextTokens: 50,
    });
  });
});

describe('an item', () => {
  const error = { code: 'CONTENT_FILTER', message: 'Content blocked.' };

  it('gets its final fields from item_done, and keeps fields that item_done lacks', () => {
    const patch = { title: 'Read a', locations: [{ path: '/a' }], raw: { native: 1 } };
    const [call] = items(
      {
        type: 'item_start',
        itemId: 'c',
        itemType: 'function_call',
        kind: 'read',
        parentCallId: 'p',
      },
      { type: 'item_delta', itemId: 'c', deltaContent: '{"pa', patch },
      say.callDone('c', 'Read', 'call-1', { path: '/a' }),
    );
    expect(call).toMatchObject({
      ...patch,
      kind: 'read',
      parentCallId: 'p',
      callId: 'call-1',
      arguments: '{"path":"/a"}',
    });
  });

  it('keeps its parent call, even if it ends with another type', () => {
    const [item] = items(
      { type: 'item_start', itemId: 'a', itemType: 'message', parentCallId: 'p' },
      {
        type: 'item_done',
        itemId: 'a',
        finalItem: { id: 'a', type: 'error', ...error, origin: 'provider' },
      },
    );
    expect(item).toMatchObject({ type: 'error', parentCallId: 'p', startedAt: time(1) });
    expect(item).not.toHaveProperty('content');
  });

  it('that never started is added whole', () => {
    const [item] = items(say.messageDone('a', 'Hi'));
    expect(item).toMatchObject({ content: 'Hi', startedAt: time(1), endedAt: time(1) });
  });

  it('that fails keeps its text so far', () => {
    const failed = items(say.text('a'), say.delta('a', 'half'), {
      type: 'item_error',
      itemId: 'a',
      error,
    });
    expect(failed).toMatchObject([{ content: 'half', error, endedAt: time(3) }]);
  });

  it('that fails without a start becomes an error item', () => {
    const failed = items({ type: 'item_error', itemId: 'a', error });
    expect(failed).toMatchObject([{ id: 'a', type: 'error', code: error.code }]);
  });

  it('that is cancelled is removed, whether open or ended', () => {
    const cancelled: EventPayload = { type: 'item_cancelled', itemId: 'a' };
    expect(items(say.text('a'), cancelled)).toEqual([]);
    expect(items(say.messageDone('a', 'Hi'), cancelled)).toEqual([]);
  });

  it('that a tool has begun to answer cannot be withdrawn, and neither can the answer', () => {
    const answered = [say.callDone('c', 'Read', 'call-1', {}), say.outputDone('o', 'call-1', 'x')];
    const cancel = ['c', 'o'].map((itemId) => ({ type: 'item_cancelled' as const, itemId }));
    expect(items(...answered, ...cancel).map(({ id }) => id)).toEqual(['c', 'o']);
  });

  it('that has ended ignores further text', () => {
    const ended = items(say.text('a'), say.messageDone('a', 'Hi'), say.delta('a', ' late'));
    expect(ended).toMatchObject([{ content: 'Hi' }]);
  });

  it.each([
    'function_call',
    'function_call_output',
    'script_execution_output',
    'approval',
  ] as const)('SAFE: of type %s with an empty id gets its own id, as without an id', (itemType) => {
    const ids = { itemId: 'a', callId: '', approvalId: '' };
    const response = folded({ type: 'item_start', itemType, ...ids });
    expect(Response.safeParse(response).error?.issues).toBeUndefined();
  });

  it('FR-001-03: of a script has the script’s code, and a second item has the result', () => {
    const script: EventPayload = { type: 'script_execution_start', itemId: 's', code: 'return 1' };
    expect(
      items(script, { type: 'script_execution_done', itemId: 's', result: '1', success: true }),
    ).toMatchObject([
      { id: 's', type: 'script_execution', code: 'return 1', endedAt: time(2) },
      { type: 'script_execution_output', scriptId: 's', result: '1', success: true },
    ]);
    expect(items(script, { type: 'script_execution_error', itemId: 's', error })).toMatchObject([
      { id: 's' },
      { scriptId: 's', success: false, error },
    ]);
  });
});

describe('a turn that failed', () => {
  const failed = (more: object) =>
    folded({ type: 'response_done', status: 'error', ...more }).error;
  const error = { code: 'X', message: 'It broke.' };

  it('has the error that its source reported, or an error made from its finish reason', () => {
    expect(failed({ error, finishReason: 'max_tokens' })).toEqual(error);
    expect(failed({ finishReason: 'max tokens--reached' })).toEqual({
      code: 'MAX_TOKENS_REACHED',
      message: 'The turn failed with finish reason "max tokens--reached".',
    });
    expect(failed({ finishReason: null })).toEqual({
      code: 'TURN_FAILED',
      message: 'The turn failed without a reason from its source.',
    });
  });

  it('keeps the token counts that were reported before', () => {
    const told: EventPayload = {
      type: 'usage_update',
      usage: { inputTokens: 1, outputTokens: 2, contextTokens: 3 },
    };
    const usage = { inputTokens: 4, outputTokens: 5 };
    expect(folded(told, { type: 'response_error', error }).usage).toEqual(told.usage);
    expect(folded(told, { type: 'response_error', error, usage }).usage).toEqual({
      ...usage,
      contextTokens: 3,
    });
  });

  it('has the error of its end even if its status is completed', () => {
    const end: EventPayload = { type: 'response_done', status: 'completed', error };
    expect(folded(end)).toMatchObject({ status: 'complete', error });
    expect(folded({ type: 'response_done', status: 'completed' })).not.toHaveProperty('error');
  });
});

describe('repeated events and events about unknown items', () => {
  const error = { code: 'X', message: 'It broke.' };

  it('change nothing', () => {
    const other: EventPayload = { ...start, modelId: 'other' };
    expect(folded(other).modelId).toBe('model');
    const again: EventPayload = { type: 'item_start', itemId: 'a', itemType: 'reasoning' };
    expect(items(say.text('a'), say.delta('a', 'Hi'), again)).toMatchObject([
      { type: 'message', content: 'Hi' },
    ]);
    const late: EventPayload = { type: 'item_error', itemId: 'a', error };
    expect(items(say.messageDone('a', 'Hi'), late)[0]).not.toHaveProperty('error');
    expect(items(say.messageDone('a', 'Hi'), say.messageDone('a', 'Ho'))).toMatchObject([
      { content: 'Hi' },
    ]);
    expect(items(say.delta('a', 'Hi'), { type: 'item_cancelled', itemId: 'a' })).toEqual([]);
  });

  it('an open output can be withdrawn, and then the output’s call', () => {
    const begun: EventPayload[] = [
      say.callDone('c', 'Read', 'call-1', {}),
      { type: 'item_start', itemId: 'o', itemType: 'function_call_output', callId: 'call-1' },
    ];
    const [output, call] = ['o', 'c'].map(
      (itemId) => ({ type: 'item_cancelled', itemId }) as const,
    );
    expect(items(...begun, output!).map(({ id }) => id)).toEqual(['c']);
    expect(items(...begun, call!).map(({ id }) => id)).toEqual(['c', 'o']);
    expect(items(...begun, output!, call!)).toEqual([]);
  });

  it('the result of an unknown script is an item of its own', () => {
    const done: EventPayload = {
      type: 'script_execution_done',
      itemId: 's',
      result: '1',
      success: true,
    };
    expect(items(done)).toEqual([
      {
        id: 's:output',
        type: 'script_execution_output',
        scriptId: 's',
        result: '1',
        success: true,
        origin: 'script_harness',
        startedAt: time(1),
        endedAt: time(1),
      },
    ]);
  });
});

describe('closing open items', () => {
  const open = fold(
    runOf([
      start,
      say.text('empty'),
      say.text('said'),
      say.delta('said', 'Hi'),
      say.call('call', 'Read', 'call-1'),
      { type: 'item_start', itemId: 'ask', itemType: 'approval', title: 'May I?' },
      say.messageDone('ended', 'Bye'),
    ]),
  );

  it('keeps items with content, withdraws items without, and cancels approvals', () => {
    const closers = closeOpenItems(open, { status: 'cancelled' });
    expect(closers).toMatchObject([
      { type: 'item_cancelled', itemId: 'empty' },
      { type: 'item_done', itemId: 'said', finalItem: { content: 'Hi' } },
      { type: 'item_done', itemId: 'call', finalItem: { name: 'Read' } },
      { type: 'item_done', itemId: 'ask', finalItem: { outcome: { outcome: 'cancelled' } } },
    ]);
  });

  it('gives the run’s error to items that the run’s end cut off', () => {
    const error = { code: 'PROCESS_CRASH', message: 'It died.' };
    expect(closeOpenItems(open, { status: 'error', error })).toMatchObject([
      { type: 'item_cancelled', itemId: 'empty' },
      { type: 'item_error', itemId: 'said', error },
      { type: 'item_error', itemId: 'call', error },
      { type: 'item_done', itemId: 'ask', finalItem: { outcome: { outcome: 'cancelled' } } },
    ]);
  });

  it('keeps a plan, however the run ended', () => {
    const entries = [{ content: 'Look', priority: 'medium', status: 'pending' } as const];
    const plan = fold(
      runOf([start, { type: 'item_start', itemId: 'p', itemType: 'plan', entries }]),
    );
    const error = { code: 'PROCESS_CRASH', message: 'It died.' };
    expect(closeOpenItems(plan, { status: 'error', error })).toMatchObject([
      { type: 'item_done', itemId: 'p', finalItem: { entries } },
    ]);
  });

  it('reports TURN_FAILED if the run has no error', () => {
    const [, said] = closeOpenItems(open, { status: 'error' });
    expect(said).toMatchObject({ type: 'item_error', error: { code: 'TURN_FAILED' } });
  });

  it('does not change an output’s success if the turn is complete', () => {
    const started: EventPayload = {
      type: 'item_start',
      itemId: 'o',
      itemType: 'function_call_output',
    };
    const output = fold(runOf([start, started, say.delta('o', 'all')]));
    expect(closeOpenItems(output, { status: 'completed' })).toMatchObject([
      { finalItem: { output: 'all', success: true } },
    ]);
  });

  it.each(['message', 'reasoning', 'function_call_output', 'script_execution_output'] as const)(
    'withdraws a %s without content, whether the run is complete or not',
    (itemType) => {
      const state = fold(runOf([start, { type: 'item_start', itemId: 'i', itemType }]));
      for (const status of ['completed', 'error'] as const) {
        expect(closeOpenItems(state, { status })).toMatchObject([{ type: 'item_cancelled' }]);
      }
    },
  );

  it('marks an output that was cut off as not successful', () => {
    const output = fold(
      runOf([
        start,
        { type: 'item_start', itemId: 'o', itemType: 'function_call_output', callId: 'c' },
        say.delta('o', 'half'),
      ]),
    );
    expect(closeOpenItems(output, { status: 'cancelled' })).toMatchObject([
      { finalItem: { output: 'half', success: false } },
    ]);
  });
});

describe('the cost of a delta', () => {
  it('does not grow with the number of ended items or with the length of the text', () => {
    const ended = Array.from({ length: 2000 }, (_, index) => say.messageDone(`m-${index}`, 'Hi'));
    const [before, ...deltas] = runOf([
      say.text('a'),
      ...Array.from({ length: 100 }, () => say.delta('a', 'word ')),
    ]);
    const many = fold(runOf([start, ...ended, say.text('a')]));
    const shifted = deltas.map((event) => ({ ...event, seq: event.seq + many.lastSeq }));
    const grown = shifted.reduce(foldResponse, many);
    expect(before).toBeDefined();
    // The list is shared between states, not copied.
    expect(grown.items).toBe(many.items);
    expect(grown.open.get('a')?.text).toBe('word '.repeat(100));
    expect(many.open.get('a')?.text).toBe('');
  });
});
