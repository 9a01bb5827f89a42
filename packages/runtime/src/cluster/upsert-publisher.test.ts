import type { EventPayload, StreamEvent } from '@liminal/protocol';
import { stampEvent } from '@liminal/protocol';
import type { UpsertMessage } from '@liminal/storage';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { UpsertPublisher } from './upsert-publisher.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => vi.useRealTimers());

const run = {
  sessionId: 'session-1',
  runId: 'run-1',
  traceContext: { traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` },
};
const runOf = (...payloads: EventPayload[]): StreamEvent[] =>
  payloads.map((payload, seq) =>
    stampEvent({ turnId: 'turn-1', timestamp: '2026-01-01T00:00:00.000Z', payload }, run, seq),
  );
const start: EventPayload = { type: 'response_start', modelId: 'model', providerId: 'provider' };
const item: EventPayload = { type: 'item_start', itemId: 'a', itemType: 'message' };
const done: EventPayload = {
  type: 'item_done',
  itemId: 'a',
  finalItem: { id: 'a', type: 'message', content: 'Hi', origin: 'agent' },
};
const end: EventPayload = { type: 'response_done', status: 'completed' };

/** A publisher whose transport fails `failures` times. */
function stage(failures = 0) {
  const published: UpsertMessage[] = [];
  const triedAt: number[] = [];
  const troubles: unknown[] = [];
  const began = Date.now();
  const publisher = new UpsertPublisher({
    publish: async (message) => {
      triedAt.push(Date.now() - began);
      if (triedAt.length <= failures) throw new Error('Redis is away.');
      published.push(message);
    },
    now: Date.now,
    onTrouble: (error) => troubles.push(error),
  });
  return { publisher, published, triedAt, troubles };
}

/** The error that it rejects with. */
const failureOf = async (process: Promise<void>): Promise<unknown> =>
  process.then(() => undefined).catch((error: unknown) => error);

test('FR-003-01: a turn is published as upserts and turn events in seed 003’s envelope, in order', async () => {
  const { publisher, published } = stage();
  for (const event of runOf(start, item, done, end)) await publisher.process(event);
  expect(
    published.map(({ payloadType, payload }) => [payloadType, JSON.parse(payload).type]),
  ).toEqual([
    ['turn_event', 'turn_started'],
    ['item_upsert', 'message'],
    ['item_upsert', 'message'],
    ['turn_event', 'turn_complete'],
  ]);
  expect(JSON.parse(published[1]!.payload)).toMatchObject({ content: 'Hi', status: 'create' });
  expect(JSON.parse(published[2]!.payload)).toMatchObject({ content: 'Hi', status: 'complete' });
  for (const message of published) {
    expect(message).toMatchObject({ turnId: 'turn-1', timestamp: expect.any(Number) });
    expect(message.eventId).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  }
  expect(new Set(published.map(({ eventId }) => eventId)).size).toBe(4);
});

test('published again from the same events, messages have the same ids', async () => {
  const [once, twice] = [stage(), stage()];
  for (const { publisher } of [once, twice])
    for (const event of runOf(start, item, done, end)) await publisher.process(event);
  const ids = ({ published }: typeof once) => published.map(({ eventId }) => eventId);
  expect(ids(twice)).toEqual(ids(once));
});

test('text that a pause leaves buffered is published a second later', async () => {
  const { publisher, published } = stage();
  const hello: EventPayload = { type: 'item_delta', itemId: 'a', deltaContent: 'Hello' };
  for (const event of runOf(start, item, hello)) await publisher.process(event);
  expect(published).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(JSON.parse(published[1]!.payload)).toMatchObject({ content: 'Hello', status: 'create' });
  publisher.close();
});

describe('what cannot be published', () => {
  test('TC-13: is tried again after a second, and delivered', async () => {
    const { publisher, published, triedAt } = stage(1);
    const processing = publisher.process(runOf(start)[0]!);
    await vi.advanceTimersByTimeAsync(1_000);
    await processing;
    expect(triedAt).toEqual([0, 1_000]);
    expect(published.map(({ payloadType }) => payloadType)).toEqual(['turn_event']);
  });

  test('TC-14: is given up after three more tries, each twice as late, and says so', async () => {
    const { publisher, published, triedAt } = stage(Infinity);
    const failure = failureOf(publisher.process(runOf(start)[0]!));
    await vi.advanceTimersByTimeAsync(7_000);
    expect(await failure).toMatchObject({ message: 'Redis is away.' });
    expect(triedAt).toEqual([0, 1_000, 3_000, 7_000]);
    expect(published).toEqual([]);
  });

  test('what comes after it is published still, and a flush that fails is told', async () => {
    const { publisher, published, troubles } = stage(8);
    const [first, second, third] = runOf(start, item, {
      type: 'item_delta',
      itemId: 'a',
      deltaContent: 'Hello',
    });
    const failure = failureOf(publisher.process(first!));
    await vi.advanceTimersByTimeAsync(7_000);
    expect(await failure).toBeInstanceOf(Error);
    await publisher.process(second!);
    await publisher.process(third!);
    await vi.advanceTimersByTimeAsync(1_000 + 7_000);
    expect(troubles).toHaveLength(1);
    const [, , , ended] = runOf(start, item, item, done);
    await publisher.process(ended!);
    expect(published.map(({ payload }) => JSON.parse(payload).status)).toEqual(['complete']);
  });
});
