import { describe, expect, it } from 'vitest';
import type { EventPayload } from '../events.ts';
import { foldEvents, foldRun, upsertsIn } from '../testing/fold-run.ts';
import * as say from '../testing/payloads.ts';
import { runOf } from '../testing/run-of.ts';
import type { FoldOutput } from '../upserts.ts';
import { countWords } from './pace.ts';
import { defaultUpsertFoldConfig } from './upsert-config.ts';
import { destroyUpsertFold, flushIdle, nextFlushAt, startUpsertFold } from './upsert.ts';

const words = (count: number) => 'word '.repeat(count);
/** One delta per token. */
const tokens = (itemId: string, count: number) =>
  Array.from({ length: count }, () => say.delta(itemId, 'word '));
const contents = (outputs: readonly FoldOutput[]) =>
  upsertsIn(outputs).map((upsert) => [upsert.status, 'content' in upsert && upsert.content]);
/** The token counts at which a text was emitted before the end of its item. */
const emittedAt = (outputs: readonly FoldOutput[]) =>
  upsertsIn(outputs)
    .filter(({ status }) => status === 'create' || status === 'update')
    .map((upsert) => ('content' in upsert ? countWords(upsert.content) : 0));

describe('events become upserts with full content', () => {
  it('TC-5.1a: a simple text message gives create and complete', () => {
    const { outputs } = foldRun([
      say.text('a'),
      say.delta('a', 'Hello '),
      say.delta('a', 'there!'),
      say.messageDone('a', 'Hello there!'),
      say.completed,
    ]);
    expect(outputs.map((output) => output.kind)).toEqual(['turn', 'upsert', 'upsert', 'turn']);
    expect(upsertsIn(outputs)).toMatchObject([
      { status: 'create', type: 'message', content: 'Hello there!', origin: 'agent', itemId: 'a' },
      { status: 'complete', type: 'message', content: 'Hello there!', turnId: 'turn-1' },
    ]);
    expect(outputs.at(-1)).toEqual({
      kind: 'turn',
      event: {
        type: 'turn_complete',
        turnId: 'turn-1',
        sessionId: 'session-1',
        status: 'completed',
        usage: { inputTokens: 1, outputTokens: 2 },
      },
    });
  });

  it('a turn’s start has a trigger if the agent started the turn', () => {
    const start = { type: 'response_start', modelId: 'm', providerId: 'p' } as const;
    const triggers = ([undefined, 'user', 'agent'] as const).map((trigger) => {
      const run = runOf([trigger === undefined ? start : { ...start, trigger }]);
      const [told] = foldEvents(run, startUpsertFold()).outputs;
      return told?.kind === 'turn' && 'trigger' in told.event && told.event.trigger;
    });
    expect(triggers).toEqual([false, false, 'agent']);
  });

  it.each(['max_tokens', 'max_turn_requests', 'refusal', 'of_tomorrow'])(
    'a turn that stopped because of %s has this reason at its end, and is complete',
    (finishReason) => {
      const { outputs } = foldRun([{ type: 'response_done', status: 'completed', finishReason }]);
      expect(outputs.at(-1)).toMatchObject({
        event: { type: 'turn_complete', status: 'completed', finishReason },
      });
    },
  );

  it('TC-5.1b: each emission carries the full content', () => {
    const deltas = [30, 20, 50].map((count) => say.delta('a', words(count)));
    const { outputs } = foldRun([say.text('a'), ...deltas, say.messageDone('a', words(100))]);
    expect(contents(outputs)).toEqual([
      ['create', words(30)],
      ['update', words(100)],
      ['complete', words(100)],
    ]);
  });

  it('TC-5.1c: a tool call is emitted on invocation and on completion only', () => {
    const { upserts } = foldRun([
      say.call('call', 'Read', 'call-1'),
      say.delta('call', '{"path":'),
      say.delta('call', '"/a"}'),
      say.callDone('call', 'Read', 'call-1', { path: '/a' }),
      { type: 'item_start', itemId: 'output', itemType: 'function_call_output', callId: 'call-1' },
      say.delta('output', words(50)),
      say.outputDone('output', 'call-1', 'text'),
    ]);
    expect(upserts).toMatchObject([
      { status: 'create', itemId: 'call', toolName: 'Read', toolArguments: {}, callId: 'call-1' },
      {
        status: 'complete',
        itemId: 'call',
        toolArguments: { path: '/a' },
        toolOutput: 'text',
        toolOutputIsError: false,
      },
    ]);
    expect(upserts[0]).not.toHaveProperty('toolOutput');
  });

  it('TC-5.1d: thinking is reasoning content', () => {
    const { upserts } = foldRun([
      say.text('a', 'reasoning'),
      say.delta('a', words(11)),
      say.delta('a', 'more'),
      say.reasoningDone('a', `${words(11)}more`),
    ]);
    expect(upserts).toMatchObject([
      { type: 'thinking', status: 'create', content: words(11), providerId: 'anthropic' },
      { type: 'thinking', status: 'complete', content: `${words(11)}more` },
    ]);
  });

  it('has the time at which the source produced the text and the time at which the fold emitted it', () => {
    const events = runOf([say.text('a'), say.delta('a', words(11))]);
    const { outputs } = foldEvents(events, startUpsertFold(), Date.UTC(2026, 1, 1));
    expect(upsertsIn(outputs)).toMatchObject([
      { sourceTimestamp: events[1]?.timestamp, emittedAt: '2026-02-01T00:00:00.000Z' },
    ]);
  });
});

describe('the batch gradient controls the frequency of emissions', () => {
  it('TC-5.2a: the first emission comes once 10 tokens are exceeded', () => {
    expect(emittedAt(foldRun([say.text('a'), ...tokens('a', 10)]).outputs)).toEqual([]);
    expect(emittedAt(foldRun([say.text('a'), ...tokens('a', 11)]).outputs)).toEqual([11]);
  });

  it('TC-5.2b: later emissions come at wider intervals', () => {
    const { outputs } = foldRun([say.text('a'), ...tokens('a', 280)]);
    const at = emittedAt(outputs);
    const intervals = at.map((count, index) => count - (at[index - 1] ?? 0));
    expect(intervals).toEqual([11, 21, 41, 81, 121]);
  });

  it('TC-5.2c: a threshold that is reached exactly is not exceeded', () => {
    const { state, outputs } = foldRun([say.text('a'), say.delta('a', words(10))]);
    expect(upsertsIn(outputs)).toEqual([]);
    expect(state.open.get('a')?.pace.tokens).toBe(10);
  });

  it('TC-5.2d: a delta across several thresholds emits once, and the gradient continues after them', () => {
    const once = foldRun([say.text('a'), say.delta('a', words(75))]);
    expect(emittedAt(once.outputs)).toEqual([75]);
    expect(once.state.open.get('a')?.pace.batchIndex).toBe(3);
    const onwards = foldRun([say.text('a'), say.delta('a', words(75)), ...tokens('a', 81)]);
    expect(emittedAt(onwards.outputs)).toEqual([75, 156]);
  });

  it('TC-5.2e: the last entry of the gradient is repeated', () => {
    const { outputs } = foldRun([say.text('a'), ...tokens('a', 12)], {
      batchGradientTokens: [1, 2],
    });
    expect(emittedAt(outputs)).toEqual([2, 5, 8, 11]);
  });

  it('TC-5.2f: the default gradient is 10, 20, 40, 80, 120', () => {
    expect(startUpsertFold().config).toMatchObject({
      batchGradientTokens: [10, 20, 40, 80, 120],
      batchTimeoutMs: 1000,
    });
    expect(defaultUpsertFoldConfig.batchGradientTokens).toEqual([10, 20, 40, 80, 120]);
  });

  it('counts words exactly, wherever deltas cut the words', () => {
    const cut = ['one tw', 'o', ' ', '  thr', 'ee\n', 'four'].map((piece) => say.delta('a', piece));
    const { state } = foldRun([say.text('a'), ...cut]);
    expect(state.open.get('a')?.pace.tokens).toBe(4);
  });

  it('counts a word only once if an emission cuts the word', () => {
    const pieces = [`${words(10)}wo`, 'rd', ' next'].map((piece) => say.delta('a', piece));
    const { state, outputs } = foldRun([say.text('a'), ...pieces]);
    expect(emittedAt(outputs)).toEqual([11]);
    expect(state.open.get('a')?.pace.tokens).toBe(1);
  });

  it('counts the initial content of an item', () => {
    const start: EventPayload = {
      type: 'item_start',
      itemId: 'a',
      itemType: 'message',
      initialContent: words(11),
    };
    expect(contents(foldRun([start]).outputs)).toEqual([['create', words(11)]]);
  });

  it('refuses a gradient that never ends a batch', () => {
    for (const batchGradientTokens of [[], [10, 0]]) {
      expect(() => startUpsertFold({ batchGradientTokens })).toThrow(
        expect.objectContaining({ code: 'INVALID_UPSERT_CONFIG' }),
      );
    }
  });
});

describe('invocation and result are correlated', () => {
  it('TC-5.3a: a result completes its invocation, and has the invocation’s itemId', () => {
    const { upserts } = foldRun([
      say.callDone('call', 'Read', 'call-1', { path: '/a' }),
      say.outputDone('output', 'call-1', 'no such file', false),
    ]);
    expect(upserts.map(({ itemId, status }) => [itemId, status])).toEqual([
      ['call', 'create'],
      ['call', 'complete'],
    ]);
    expect(upserts[1]).toMatchObject({ toolOutput: 'no such file', toolOutputIsError: true });
  });

  it('TC-5.3b: concurrent calls are tracked separately', () => {
    const { upserts } = foldRun([
      say.call('first', 'Read', 'call-1'),
      say.call('second', 'Write', 'call-2'),
      say.callDone('second', 'Write', 'call-2', { path: '/b' }),
      say.callDone('first', 'Read', 'call-1', { path: '/a' }),
      say.outputDone('output-2', 'call-2', 'written'),
      say.outputDone('output-1', 'call-1', 'read'),
    ]);
    expect(upserts.slice(2)).toMatchObject([
      { itemId: 'second', toolName: 'Write', toolArguments: { path: '/b' }, toolOutput: 'written' },
      { itemId: 'first', toolName: 'Read', toolArguments: { path: '/a' }, toolOutput: 'read' },
    ]);
  });

  it('TC-3.3g: a result without an invocation is shown alone', () => {
    const { upserts } = foldRun([say.outputDone('output', 'call-9', 'text', false)]);
    expect(upserts).toMatchObject([
      {
        type: 'tool_call',
        status: 'complete',
        itemId: 'output',
        callId: 'call-9',
        toolOutput: 'text',
        toolOutputIsError: true,
      },
    ]);
  });

  it('a call whose result arrives first completes only when its arguments are whole', () => {
    const { upserts } = foldRun([
      say.call('call', 'Read', 'call-1'),
      say.outputDone('output', 'call-1', 'text'),
      say.delta('call', '{"path":"/a"}'),
      say.callDone('call', 'Read', 'call-1', { path: '/a' }),
    ]);
    expect(upserts).toMatchObject([
      { status: 'create' },
      { status: 'complete', toolArguments: { path: '/a' }, toolOutput: 'text' },
    ]);
  });

  it('discards a result that was shown alone when its call arrives', () => {
    const { outputs } = foldRun([
      say.call('call', 'Read'),
      say.outputDone('output', 'call-1', 'text'),
      say.callDone('call', 'Read', 'call-1', {}),
    ]);
    expect(outputs.slice(2)).toMatchObject([
      { kind: 'upsert', upsert: { itemId: 'output', status: 'complete' } },
      { kind: 'discard', itemId: 'output' },
      { kind: 'upsert', upsert: { itemId: 'call', status: 'complete', toolOutput: 'text' } },
    ]);
  });

  it('closes calls without a result when their turn ends', () => {
    const open = say.callDone('call', 'Read', 'call-1', {});
    const last = (end: EventPayload) => foldRun([open, end]).outputs.slice(-2);
    const error = { code: 'PROCESS_CRASH', message: 'It died.' };
    expect(last(say.completed)).toMatchObject([
      { upsert: { itemId: 'call', status: 'complete' } },
      { kind: 'turn' },
    ]);
    expect(last({ type: 'response_done', status: 'cancelled' })).toMatchObject([
      { upsert: { status: 'error', errorCode: 'CANCELLED' } },
      { event: { type: 'turn_complete', status: 'cancelled' } },
    ]);
    expect(last({ type: 'response_error', error })).toMatchObject([
      { upsert: { status: 'error', errorCode: 'PROCESS_CRASH', errorMessage: 'It died.' } },
      { event: { type: 'turn_error' } },
    ]);
  });
});

describe('edge cases', () => {
  const error = { code: 'PROCESS_CRASH', message: 'It died.' };

  it('NFR-000-07, TC-5.4a: destruction flushes buffered text as an error, never as complete', () => {
    const { state, upserts } = foldRun([
      say.text('a'),
      say.delta('a', 'half a thou'),
      say.call('call', 'Read', 'call-1'),
      say.text('empty'),
    ]);
    expect(upserts.map(({ itemId }) => itemId)).toEqual(['call']);
    const end = destroyUpsertFold(state, Date.UTC(2026, 0, 1), error);
    expect(end.outputs).toMatchObject([
      { upsert: { itemId: 'a', status: 'error', content: 'half a thou', errorCode: error.code } },
      { upsert: { itemId: 'call', status: 'error', errorMessage: 'It died.' } },
      { event: { type: 'turn_error', errorCode: 'PROCESS_CRASH' } },
    ]);
    expect(destroyUpsertFold(end.state, 0, error).outputs).toEqual([]);
    expect(nextFlushAt(end.state)).toBeUndefined();
  });

  it('TC-5.4b: buffered text is emitted when the batch timeout has passed', () => {
    const now = Date.UTC(2026, 0, 1);
    const events = runOf([say.text('a'), say.delta('a', 'Hel'), say.delta('a', 'lo')]);
    const first = foldEvents(events.slice(0, 2), startUpsertFold(), now);
    expect(nextFlushAt(first.state)).toBe(now + 1000);
    // Each delta restarts the timeout.
    const second = foldEvents(events, first.state, now + 600);
    expect(nextFlushAt(second.state)).toBe(now + 1600);
    expect(flushIdle(second.state, now + 1599).outputs).toEqual([]);
    const flushed = flushIdle(second.state, now + 1600);
    expect(upsertsIn(flushed.outputs)).toMatchObject([
      { status: 'create', content: 'Hello', sourceTimestamp: events[2]?.timestamp },
    ]);
    expect(nextFlushAt(flushed.state)).toBeUndefined();
    expect(flushIdle(flushed.state, now + 9999).outputs).toEqual([]);
  });

  it('TC-5.4b: the timeout is configurable', () => {
    const { state } = foldRun([say.text('a'), say.delta('a', 'Hi')], { batchTimeoutMs: 50 });
    expect(nextFlushAt(state)).toBe(Date.UTC(2026, 0, 1) + 50);
  });

  it('TC-5.4c: an item without content gives one emission, complete and empty', () => {
    const { outputs } = foldRun([say.text('a'), say.messageDone('a', '')]);
    expect(contents(outputs)).toEqual([['complete', '']]);
  });

  it('TC-5.4d: a cancelled item that was buffered emits nothing', () => {
    const { state, upserts } = foldRun([
      say.text('a'),
      say.delta('a', 'never mind'),
      { type: 'item_cancelled', itemId: 'a' },
    ]);
    expect(upserts).toEqual([]);
    expect(state.open.size).toBe(0);
    expect(nextFlushAt(state)).toBeUndefined();
  });

  it('TC-5.4d: a cancelled item that was shown is discarded, even if it had ended', () => {
    const shown = [say.text('a'), say.delta('a', words(11))];
    const cancelled: EventPayload = { type: 'item_cancelled', itemId: 'a' };
    const discard = { kind: 'discard', turnId: 'turn-1', itemId: 'a' };
    expect(foldRun([...shown, cancelled]).outputs.at(-1)).toEqual(discard);
    const ended = [...shown, say.messageDone('a', words(11)), cancelled];
    expect(foldRun(ended).outputs.at(-1)).toEqual(discard);
  });

  it('TC-5.4e: a cancelled turn has status cancelled; its cancelled items are neither complete nor error', () => {
    const { outputs } = foldRun([
      say.text('a'),
      say.delta('a', words(11)),
      say.text('b'),
      { type: 'turn_aborted_by_user', reason: 'stop' },
      { type: 'item_cancelled', itemId: 'a' },
      { type: 'item_cancelled', itemId: 'b' },
      { type: 'response_done', status: 'cancelled' },
    ]);
    expect(upsertsIn(outputs).map(({ status }) => status)).toEqual(['create']);
    expect(outputs.at(-1)).toMatchObject({
      kind: 'turn',
      event: { type: 'turn_complete', status: 'cancelled' },
    });
  });

  it('TC-5.4e: open text of a cancelled turn is kept and is not an error', () => {
    const open = [say.text('a'), say.delta('a', 'half')];
    const { upserts } = foldRun([...open, { type: 'response_done', status: 'cancelled' }]);
    expect(upserts.at(-1)).toMatchObject({ status: 'complete', content: 'half' });
  });

  it('TC-5.4f: a failed turn emits only a turn_error, with code and message', () => {
    const failed = (end: EventPayload) => foldRun([end]).outputs.slice(1);
    const turnError = (errorCode: string, errorMessage: unknown) => [
      {
        kind: 'turn',
        event: {
          type: 'turn_error',
          turnId: 'turn-1',
          sessionId: 'session-1',
          errorCode,
          errorMessage,
        },
      },
    ];
    expect(failed({ type: 'response_error', error })).toEqual(turnError(error.code, 'It died.'));
    expect(
      failed({ type: 'response_done', status: 'error', finishReason: 'max_tokens', error }),
    ).toEqual(turnError(error.code, 'It died.'));
    expect(failed({ type: 'response_done', status: 'error', finishReason: 'max_tokens' })).toEqual(
      turnError('MAX_TOKENS', expect.stringContaining('max_tokens')),
    );
    expect(failed({ type: 'response_done', status: 'error' })).toEqual(
      turnError('TURN_FAILED', expect.any(String)),
    );
  });

  it('TC-5.4f: response_error takes precedence over a later response_done', () => {
    const other = { code: 'OTHER', message: 'Something else.' };
    const { outputs } = foldRun([
      { type: 'response_error', error },
      { type: 'response_done', status: 'error', error: other },
    ]);
    expect(outputs.slice(1)).toMatchObject([{ event: { errorCode: 'PROCESS_CRASH' } }]);
  });

  it('shows a failed item with its content so far', () => {
    const { upserts } = foldRun([
      say.text('a'),
      say.delta('a', 'half'),
      { type: 'item_error', itemId: 'a', error },
    ]);
    expect(upserts).toMatchObject([
      { status: 'error', content: 'half', errorCode: error.code, errorMessage: error.message },
    ]);
  });

  it('holds a user message until it is whole', () => {
    const start: EventPayload = {
      type: 'item_start',
      itemId: 'a',
      itemType: 'message',
      origin: 'user',
    };
    const deltas = [say.delta('a', words(50)), say.messageDone('a', words(50), 'user')];
    for (const config of [{}, { appends: true }]) {
      const { upserts, outputs } = foldRun([start, ...deltas], config);
      expect(outputs).toHaveLength(2);
      expect(upserts).toMatchObject([{ status: 'complete', origin: 'user', content: words(50) }]);
    }
  });
});

describe('a long text', () => {
  const piece = 'word '.repeat(200);
  const sizeOf = (times: number) => {
    const deltas = Array.from({ length: times }, () => say.delta('a', piece));
    const { upserts } = foldRun([say.text('a'), ...deltas]);
    return upserts.reduce((sum, one) => sum + ('content' in one ? one.content.length : 0), 0);
  };

  it('SAFE: is sent to a reader without deltas in a few times its own length at most', () => {
    for (const times of [100, 1_000, 4_000]) {
      expect(sizeOf(times)).toBeGreaterThan(times * piece.length);
      expect(sizeOf(times)).toBeLessThan(30 * times * piece.length);
    }
    expect(sizeOf(4_000) / sizeOf(1_000)).toBeLessThan(5);
  });

  it('SAFE: is shown whole when it is idle', () => {
    const later = Date.UTC(2027, 0, 1);
    const deltas = Array.from({ length: 301 }, () => say.delta('a', piece));
    const { state } = foldRun([say.text('a'), ...deltas]);
    const { outputs } = flushIdle(state, later);
    expect(contents(outputs)).toEqual([['update', piece.repeat(301)]]);
    expect(nextFlushAt(flushIdle(state, later).state)).toBeUndefined();
  });
});
