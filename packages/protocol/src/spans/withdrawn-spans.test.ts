import { expect, test } from 'vitest';
import type { EventPayload } from '../events.ts';
import { runOf } from '../testing/index.ts';
import * as say from '../testing/payloads.ts';
import { WithdrawnSpans } from './withdrawn-spans.ts';

const withdraw = (itemId: string, reason: string): EventPayload => ({
  type: 'item_cancelled',
  itemId,
  reason,
});

test('each retried model call is one span', () => {
  const events = runOf([
    { type: 'response_start', modelId: 'model', providerId: 'anthropic' },
    say.text('thought', 'reasoning'),
    say.text('a'),
    say.delta('a', 'Hel'),
    withdraw('thought', 'retried'),
    withdraw('a', 'retried'),
    say.text('b'),
    withdraw('b', 'retry'),
    say.text('c'),
    withdraw('c', 'own_turn'),
    { type: 'response_done', status: 'completed' },
  ]);
  const fold = new WithdrawnSpans();
  const begin = Date.parse(events[0]!.timestamp);
  const spans = events.flatMap((event) => fold.take(event) ?? []);
  const [, traceId, turn] = events[0]!.traceContext.traceparent.split('-');
  expect(spans).toMatchObject([
    { traceId, parentSpanId: turn, hasFailed: true, attributes: { 'liminal.items': 2 } },
    { traceId, parentSpanId: turn, hasFailed: true, attributes: { 'liminal.items': 1 } },
  ]);
  const calls = spans.map(({ name, kind }) => `${kind} ${name}`);
  expect(calls).toEqual(Array(2).fill('client chat (retried)'));
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(2);
  const times = spans.map(({ startedAt, endedAt }) => [startedAt - begin, endedAt - begin]);
  expect(times).toEqual([
    [10, 50],
    [60, 70],
  ]);
});
