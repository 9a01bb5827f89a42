/**
 * Runs seed 003's test cases with a configuration of the same fold. Seed 003's terms and ours: created, updated,
 * completed = create, update, complete; item_upsert's tool_call and tool_output = one tool_call upsert, created by the
 * call and completed by its output (with the output's `callId` and `success`); reasoning = thinking; an item's error =
 * its own upsert with status error; turn_completed with status error = turn_error. The publisher of events is
 * responsible for retries (TC-13, TC-14).
 */
import { describe, expect, it } from 'vitest';
import type { EventPayload } from '../events.ts';
import { foldEvents, foldRun, upsertsIn } from '../testing/fold-run.ts';
import * as say from '../testing/payloads.ts';
import { runOf } from '../testing/run-of.ts';
import type { FoldOutput } from '../upserts.ts';
import type { UpsertFoldConfig } from './upsert-config.ts';
import { destroyUpsertFold, flushAll, flushIdle, nextFlushAt, startUpsertFold } from './upsert.ts';

const config: Partial<UpsertFoldConfig> = {
  batchGradientTokens: [10, 10, 20, 20, 50, 50, 50, 50, 100],
  batchTimeoutMs: 1000,
  tokenCounter: (text) => text.length / 4,
  firstEmission: 'immediate',
};
const changeTypes = { create: 'created', update: 'updated', complete: 'completed', error: 'error' };

/** The outputs, renamed to seed 003's terms. */
const inItsWords = (outputs: readonly FoldOutput[]) =>
  outputs.map((output) => {
    if (output.kind === 'turn') return output.event.type.replace('turn_complete', 'turn_completed');
    if (output.kind !== 'upsert') return output.kind;
    const { upsert } = output;
    const content = 'content' in upsert ? ` ${upsert.content}` : '';
    return `${upsert.type} ${changeTypes[upsert.status]}${content}`;
  });
const run = (payloads: EventPayload[]) => foldRun(payloads, config);

describe('seed 003: characters / 4, its gradient, first emission at once', () => {
  it('TC-01: a simple agent message', () => {
    const { outputs } = run([
      say.text('msg-1'),
      say.delta('msg-1', 'Hello there!'),
      say.messageDone('msg-1', 'Hello there!'),
      say.completed,
    ]);
    expect(inItsWords(outputs)).toEqual([
      'turn_started',
      'message created Hello there!',
      'message completed Hello there!',
      'turn_completed',
    ]);
    expect(outputs[0]).toMatchObject({ event: { modelId: 'model', providerId: 'anthropic' } });
    expect(outputs[1]).toMatchObject({ upsert: { origin: 'agent' } });
  });

  it('NFR-000-09, TC-02: an agent message with batching', () => {
    const pieces = ['Hello, how are you?', " I hope you're having a great", ' day today!'];
    const { outputs } = run([
      say.text('msg-1'),
      ...pieces.map((piece) => say.delta('msg-1', piece)),
      say.messageDone('msg-1', pieces.join('')),
      say.completed,
    ]);
    expect(inItsWords(outputs)).toEqual([
      'turn_started',
      'message created Hello, how are you?',
      "message updated Hello, how are you? I hope you're having a great",
      "message completed Hello, how are you? I hope you're having a great day today!",
      'turn_completed',
    ]);
  });

  it('TC-03: a user message is held until it is complete', () => {
    const { outputs } = run([
      say.text('run-123-user-prompt'),
      say.messageDone('run-123-user-prompt', 'What is the weather?', 'user'),
      say.messageDone('msg-1', 'Fine.'),
      say.completed,
    ]);
    expect(inItsWords(outputs).slice(0, 3)).toEqual([
      'turn_started',
      'message completed What is the weather?',
      'message created Fine.',
    ]);
    expect(outputs[1]).toMatchObject({ upsert: { origin: 'user' } });
  });

  it('TC-04: a reasoning block before the response', () => {
    const { outputs } = run([
      say.text('r', 'reasoning'),
      say.delta('r', 'Let me think about that.'),
      say.delta('r', ' It is a question about rain.'),
      say.reasoningDone('r', 'Let me think about that. It is a question about rain.'),
      say.text('m'),
      say.delta('m', 'Rain.'),
      say.messageDone('m', 'Rain.'),
      say.completed,
    ]);
    expect(inItsWords(outputs)).toEqual([
      'turn_started',
      'thinking created Let me think about that.',
      'thinking updated Let me think about that. It is a question about rain.',
      'thinking completed Let me think about that. It is a question about rain.',
      'message created Rain.',
      'message completed Rain.',
      'turn_completed',
    ]);
    expect(upsertsIn(outputs).slice(0, 3)).toMatchObject(
      Array.from({ length: 3 }, () => ({ providerId: 'anthropic' })),
    );
  });

  it('TC-05: a tool call and its output, merged', () => {
    const { outputs } = run([
      say.call('item-1', 'read_file'),
      say.callDone('item-1', 'read_file', 'call-1', { path: '/tmp/test.txt' }),
      { type: 'item_start', itemId: 'item-2', itemType: 'function_call_output' },
      say.outputDone('item-2', 'call-1', '{"content": "file contents"}'),
      say.messageDone('m', 'Done.'),
      say.completed,
    ]);
    expect(inItsWords(outputs)).toEqual([
      'turn_started',
      'tool_call created',
      'tool_call completed',
      'message created Done.',
      'message completed Done.',
      'turn_completed',
    ]);
    expect(outputs[2]).toMatchObject({
      upsert: {
        itemId: 'item-1',
        toolName: 'read_file',
        toolArguments: { path: '/tmp/test.txt' },
        callId: 'call-1',
        toolOutput: '{"content": "file contents"}',
        toolOutputIsError: false,
      },
    });
  });

  it('TC-06: several tool calls in sequence', () => {
    const { outputs } = run([
      say.callDone('item-1', 'read_file', 'call-1', {}),
      say.outputDone('item-2', 'call-1', 'read'),
      say.callDone('item-3', 'write_file', 'call-2', {}),
      say.outputDone('item-4', 'call-2', 'written'),
      say.messageDone('m', 'Done.'),
      say.completed,
    ]);
    expect(upsertsIn(outputs)).toMatchObject([
      { status: 'create', toolName: 'read_file' },
      { status: 'complete', callId: 'call-1', toolOutput: 'read' },
      { status: 'create', toolName: 'write_file' },
      { status: 'complete', callId: 'call-2', toolOutput: 'written' },
      { status: 'create', type: 'message' },
      { status: 'complete', type: 'message' },
    ]);
  });

  it('TC-07: an item fails in mid-stream', () => {
    const blocked = { code: 'CONTENT_FILTER', message: 'Content blocked' };
    const { outputs } = run([
      say.text('m'),
      say.delta('m', 'Partial'),
      { type: 'item_error', itemId: 'm', error: blocked },
      { type: 'response_done', status: 'error', error: blocked },
    ]);
    expect(inItsWords(outputs)).toEqual([
      'turn_started',
      'message created Partial',
      'message error Partial',
      'turn_error',
    ]);
    expect(outputs[2]).toMatchObject({
      upsert: { errorCode: 'CONTENT_FILTER', errorMessage: 'Content blocked' },
    });
  });

  it('TC-08: the turn fails', () => {
    const error = { code: 'RATE_LIMIT', message: 'Too many requests' };
    const { outputs } = run([{ type: 'response_error', error }]);
    expect(inItsWords(outputs)).toEqual(['turn_started', 'turn_error']);
    expect(outputs[1]).toMatchObject({
      event: { errorCode: 'RATE_LIMIT', errorMessage: 'Too many requests' },
    });
  });

  it('TC-09: the batch timeout, as a safety fallback', () => {
    const events = runOf([
      say.text('m'),
      say.delta('m', 'Ten chars.'),
      say.delta('m', ' More here'),
      say.messageDone('m', 'Ten chars. More here'),
    ]);
    const first = foldEvents(events.slice(0, 2), startUpsertFold(config), 0);
    const stalled = flushIdle(first.state, nextFlushAt(first.state) ?? 0);
    const rest = foldEvents(events.slice(2), stalled.state, 1100);
    expect(nextFlushAt(first.state)).toBe(1000);
    expect(inItsWords([...first.outputs, ...stalled.outputs, ...rest.outputs])).toEqual([
      'message created Ten chars.',
      'message updated Ten chars.',
      'message completed Ten chars. More here',
    ]);
  });

  it('TC-10: the gradient over a long response', () => {
    const deltas = Array.from({ length: 500 }, () => say.delta('m', 'four'));
    const { upserts } = run([say.text('m'), ...deltas, say.messageDone('m', 'four'.repeat(500))]);
    const counts = upserts.map((upsert) => ('content' in upsert ? upsert.content.length / 4 : 0));
    // The thresholds 10, 20, 40, 60, 110, 160, 210, 260, 360, 460, each strictly exceeded since the last emission.
    expect(counts).toEqual([1, 11, 22, 43, 64, 115, 166, 217, 268, 369, 470, 500]);
    expect(upserts.at(-1)?.status).toBe('complete');
  });

  it('TC-11: an item without content', () => {
    const { outputs } = run([say.text('m'), say.messageDone('m', ''), say.completed]);
    expect(inItsWords(outputs)).toEqual(['turn_started', 'message completed ', 'turn_completed']);
  });

  it('TC-12: destruction flushes buffered text', () => {
    const { state } = run([say.text('m'), say.delta('m', 'Buffered'), say.delta('m', ' content')]);
    const error = { code: 'DESTROYED', message: 'The reader went away.' };
    const { state: destroyed, outputs } = destroyUpsertFold(state, 0, error);
    expect(inItsWords(outputs)).toEqual(['message error Buffered content', 'turn_error']);
    expect(nextFlushAt(destroyed)).toBeUndefined();
    expect(destroyed.open.size).toBe(0);
  });

  it('TC-12: flushAll emits buffered text while the turn continues', () => {
    const { state } = run([say.text('m'), say.delta('m', 'Buffered'), say.delta('m', ' content')]);
    const { state: flushed, outputs } = flushAll(state, 0);
    expect(inItsWords(outputs)).toEqual(['message updated Buffered content']);
    expect(nextFlushAt(flushed)).toBeUndefined();
    expect(flushed.open.size).toBe(1);
  });
});
