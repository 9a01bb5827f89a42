import fc from 'fast-check';
import { expect, test } from 'vitest';
import { emptyResponse, foldResponse, toResponse } from '../folds/response.ts';
import { eventScripts, runOf, seed001Event, seed001Response } from '../testing/index.ts';
import { toResponsesEvent, toResponsesResponse, type UuidOf } from './responses.ts';

/** Returns a function that converts ids to UUIDs; the UUIDs number the ids in the order of their first use. */
function numbering(): UuidOf {
  const known = new Map<string, string>();
  return (id) => {
    const number = known.get(id) ?? String(known.size).padStart(12, '0');
    known.set(id, number);
    return `00000000-0000-4000-8000-${number}`;
  };
}

test('the events and the Response of any run are valid by seed 001, A.1, and each event is converted to one event', () => {
  fc.assert(
    fc.property(eventScripts(), (events) => {
      const uuidOf = numbering();
      const told = events.map((event) => toResponsesEvent(event, uuidOf));
      for (const event of told) expect(seed001Event.parse(event)).toEqual(event);
      expect(new Set(told.map(({ event_id }) => event_id)).size).toBe(events.length);
      const run = toResponse(events.reduce(foldResponse, emptyResponse()))!;
      const whole = toResponsesResponse(run, uuidOf);
      expect(seed001Response.parse(whole)).toEqual(whole);
    }),
  );
});

const told = (...payloads: Parameters<typeof runOf>[0]) =>
  runOf(payloads).map((event) => toResponsesEvent(event, (id) => `uuid of ${id}`).payload);

test('payloads include the ids and the start time; in our events, only the envelope contains them', () => {
  const usage = { inputTokens: 7, outputTokens: 3 };
  expect(
    told(
      { type: 'response_start', modelId: 'm', providerId: 'p' },
      { type: 'usage_update', usage },
      { type: 'turn_aborted_by_user', reason: 'cancel' },
      { type: 'response_done', status: 'cancelled', usage },
    ),
  ).toEqual([
    {
      type: 'response_start',
      response_id: 'uuid of run-1',
      turn_id: 'uuid of turn-1',
      thread_id: 'uuid of session-1',
      model_id: 'm',
      provider_id: 'p',
      created_at: Date.UTC(2026, 0, 1),
    },
    {
      type: 'usage_update',
      response_id: 'uuid of run-1',
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    },
    { type: 'turn_aborted_by_user', turn_id: 'uuid of turn-1', reason: 'cancel' },
    {
      type: 'response_done',
      response_id: 'uuid of run-1',
      status: 'aborted',
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
      finish_reason: null,
    },
  ]);
});

test('a run ends with the status of its Response, and the run’s error is never lost', () => {
  const error = { code: 'RATE_LIMIT', message: 'Too many requests.' };
  expect(
    told(
      { type: 'response_done', status: 'completed', finishReason: 'end_turn' },
      { type: 'response_done', status: 'error' },
      { type: 'response_done', status: 'error', error },
    ),
  ).toMatchObject([
    { status: 'complete', finish_reason: 'end_turn' },
    { status: 'error' },
    { type: 'response_error', error },
  ]);
});

test('a plan, file changes and a permission request become system messages in plain text', () => {
  const options = [{ optionId: 'yes', name: 'Allow', kind: 'allow_once' as const }];
  const question = { title: 'Run it?', approvalId: 'a', options };
  const diffs = [{ path: 'a.ts', oldText: 'one\n', newText: 'two\nthree\n' }];
  const entries = [{ content: 'Look', priority: 'high' as const, status: 'completed' as const }];
  const outcome = { outcome: 'selected' as const, optionId: 'yes', note: 'Go on.' };
  const finals = [
    { id: 'a', type: 'approval' as const, ...question, outcome },
    { id: 'p', type: 'plan' as const, entries },
    { id: 'f', type: 'file_changes' as const, diffs },
  ];
  const contents = told(
    ...finals.map((finalItem) => ({ type: 'item_done' as const, itemId: finalItem.id, finalItem })),
  ).map((payload) => payload.type === 'item_done' && payload.final_item);
  expect(contents).toMatchObject([
    { type: 'message', origin: 'system', content: 'Run it?\n- yes: Allow\n=> yes Go on.' },
    { type: 'message', origin: 'system', content: '[completed] Look' },
    { type: 'message', origin: 'system', content: 'a.ts\n-one\n+two\n+three' },
  ]);
  expect(told({ type: 'item_start', itemId: 'a', itemType: 'approval', ...question })).toEqual([
    {
      type: 'item_start',
      item_id: 'uuid of a',
      item_type: 'message',
      initial_content: 'Run it?\n- yes: Allow',
    },
  ]);
});
