import { describe, expect, it } from 'vitest';
import type { EventPayload } from '../events.ts';
import type { Response } from '../response.ts';
import * as say from '../testing/payloads.ts';
import { runOf } from '../testing/run-of.ts';
import { responseToUpserts, summarizeTurn } from './history.ts';
import { emptyResponse, foldResponse, toResponse } from './response.ts';

const start: EventPayload = {
  type: 'response_start',
  modelId: 'model',
  providerId: 'anthropic',
  trigger: 'agent',
};
const emittedAt = '2026-06-01T00:00:00.000Z';

function stored(...payloads: EventPayload[]): Response {
  const response = toResponse(runOf([start, ...payloads]).reduce(foldResponse, emptyResponse()));
  if (!response) throw new Error('no Response');
  return response;
}

describe('history', () => {
  it('shows each item once, in its last state, in order of start', () => {
    const response = stored(
      say.messageDone('u', 'Read it', 'user'),
      say.callDone('c', 'Read', 'call-1', { path: '/a' }),
      say.outputDone('o', 'call-1', 'text'),
      say.messageDone('m', 'Done.'),
      say.completed,
    );
    expect(responseToUpserts(response, emittedAt)).toMatchObject([
      { type: 'message', itemId: 'u', origin: 'user', status: 'complete', emittedAt },
      { type: 'tool_call', itemId: 'c', toolOutput: 'text', toolArguments: { path: '/a' } },
      {
        type: 'message',
        itemId: 'm',
        content: 'Done.',
        sourceTimestamp: '2026-01-01T00:00:00.040Z',
      },
    ]);
  });

  it('shows open items of a running turn, except items that are held until they are whole', () => {
    const response = stored(
      { type: 'item_start', itemId: 'u', itemType: 'message', origin: 'user', initialContent: 'x' },
      say.text('empty'),
      say.text('m'),
      say.delta('m', 'Wor'),
      { type: 'item_start', itemId: 'ask', itemType: 'approval', title: 'May I?' },
    );
    expect(responseToUpserts(response, emittedAt)).toMatchObject([
      { itemId: 'm', status: 'update', content: 'Wor' },
      { itemId: 'ask', status: 'create', title: 'May I?' },
    ]);
  });

  it('does not show an output that has begun without content', () => {
    const begun = (itemType: 'function_call_output' | 'script_execution_output'): EventPayload => ({
      type: 'item_start',
      itemId: 'o',
      itemType,
      callId: 'c',
    });
    const call = stored(say.callDone('c', 'Read', 'c', {}), begun('function_call_output'));
    const script = stored(
      { type: 'script_execution_start', itemId: 'c', code: '1' },
      begun('script_execution_output'),
    );
    for (const response of [call, script]) {
      const [upsert] = responseToUpserts(response, emittedAt);
      expect(upsert).toMatchObject({ type: 'tool_call', status: 'update' });
      expect(upsert).not.toHaveProperty('toolOutput');
    }
  });

  it('shows items that were imported without an end as ended at the end of their turn', () => {
    const response = {
      ...stored(say.text('m'), say.delta('m', 'Hi')),
      status: 'complete' as const,
    };
    expect(responseToUpserts(response, emittedAt)).toMatchObject([
      { status: 'complete', content: 'Hi' },
    ]);
  });
});

describe('a turn’s summary', () => {
  it('has the turn’s status, usage and times', () => {
    expect(summarizeTurn(stored(say.completed))).toEqual({
      turnId: 'turn-1',
      runId: 'run-1',
      modelId: 'model',
      providerId: 'anthropic',
      trigger: 'agent',
      status: 'complete',
      startedAt: Date.UTC(2026, 0, 1),
      endedAt: Date.UTC(2026, 0, 1) + 10,
      usage: { inputTokens: 1, outputTokens: 2 },
    });
  });

  it('has no end time while the turn runs or waits', () => {
    const running = stored();
    expect(summarizeTurn(running)).not.toHaveProperty('endedAt');
    expect(summarizeTurn({ ...running, status: 'queued' }).status).toBe('in_progress');
  });

  it('has the finish reason, if its source has reported one', () => {
    const stopped = (status: 'completed' | 'cancelled', finishReason: string): EventPayload => ({
      type: 'response_done',
      status,
      finishReason,
    });
    const summary = (payload: EventPayload) => summarizeTurn(stored(payload));
    expect(summary(stopped('completed', 'max_tokens'))).toMatchObject({
      status: 'complete',
      finishReason: 'max_tokens',
    });
    expect(summary(stopped('cancelled', 'cancelled'))).toMatchObject({
      status: 'aborted',
      finishReason: 'cancelled',
    });
    expect(summary({ type: 'response_done', status: 'completed' })).not.toHaveProperty(
      'finishReason',
    );
    expect(summarizeTurn(stored())).not.toHaveProperty('finishReason');
  });

  it('has the error of a failed turn', () => {
    const error = { code: 'RATE_LIMIT', message: 'Too many requests.' };
    const failed = stored({ type: 'response_error', error });
    expect(summarizeTurn(failed)).toMatchObject({ status: 'error', error });
    const stopped = { type: 'response_done', status: 'error', finishReason: 'max_tokens' } as const;
    expect(summarizeTurn(stored(stopped))).not.toHaveProperty('finishReason');
  });
});
