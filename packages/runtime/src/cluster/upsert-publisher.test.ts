import type { EventPayload, StreamEvent } from '@liminal/protocol';
import { stampEvent } from '@liminal/protocol';
import type { UpsertMessage } from '@liminal/storage';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { defaultUpsertSettings, type UpsertSettings } from '../settings.ts';
import { UpsertPublisher } from './upsert-publisher.ts';

beforeEach(() =>
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] }),
);
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

const delta = (deltaContent: string): EventPayload => ({
  type: 'item_delta',
  itemId: 'a',
  deltaContent,
});

interface Staged {
  /** How many of the next messages the transport rejects. */
  failures?: number;
  /** Whether the transport rejects a message. */
  refuses?: (message: UpsertMessage) => boolean;
  settings?: Partial<UpsertSettings>;
}

function stage({ failures = 0, refuses = () => false, settings = {} }: Staged = {}) {
  const published: UpsertMessage[] = [];
  const triedAt: number[] = [];
  const troubles: unknown[] = [];
  const began = Date.now();
  const publisher = new UpsertPublisher({
    publish: async (message) => {
      triedAt.push(Date.now() - began);
      if (triedAt.length <= failures || refuses(message)) throw new Error('Redis is away.');
      published.push(message);
    },
    settings: { ...defaultUpsertSettings, ...settings },
    now: Date.now,
    onTrouble: (error) => troubles.push(error),
  });
  return { publisher, published, triedAt, troubles };
}

/** The error with which the promise rejects. */
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

test('publishing the same events again gives messages with the same ids', async () => {
  const [once, twice] = [stage(), stage()];
  for (const { publisher } of [once, twice])
    for (const event of runOf(start, item, done, end)) await publisher.process(event);
  const ids = ({ published }: typeof once) => published.map(({ eventId }) => eventId);
  expect(ids(twice)).toEqual(ids(once));
});

/** A short form of the published messages: for an item its state and content, otherwise the payload's type. */
const summaries = (published: readonly UpsertMessage[]): string[] =>
  published.map(({ payload }) => {
    const { type, status, content } = JSON.parse(payload);
    return content === undefined ? type : `${status} ${content}`;
  });

describe('how a growing text is paced', () => {
  const pieces = ['Hello, how are you?', " I hope you're having a great", ' day today!'];
  const texts = pieces.map((_, index) => pieces.slice(0, index + 1).join(''));
  const events = runOf(start, item, ...pieces.map(delta));

  test('FR-003-03: the defaults are those of seed 003: four characters are a token, the first piece is published at once', async () => {
    const { publisher, published } = stage();
    for (const event of events) await publisher.process(event);
    expect(summaries(published)).toEqual([
      'turn_started',
      `create ${texts[0]}`,
      `update ${texts[1]}`,
    ]);
    await publisher.close();
  });

  test('FR-003-03: gradient, token counter, first emission and timeout are settings', async () => {
    const { publisher, published } = stage({
      settings: {
        batchGradientTokens: [9],
        batchTimeoutMs: 50,
        tokenCounter: 'words',
        firstEmission: 'threshold',
      },
    });
    for (const event of events) await publisher.process(event);
    expect(summaries(published)).toEqual(['turn_started', `create ${texts[1]}`]);
    await vi.advanceTimersByTimeAsync(50);
    expect(summaries(published).at(-1)).toBe(`update ${texts[2]}`);
  });

  test('buffered text is published after a second without text, even if the clock is set back', async () => {
    const { publisher, published } = stage();
    for (const event of runOf(start, item, delta('Hello'))) await publisher.process(event);
    vi.setSystemTime(Date.now() - 86_400_000);
    for (const event of runOf(start, item, delta('Hello'), delta(' you'))) {
      await publisher.process(event);
    }
    vi.setSystemTime(Date.now() - 86_400_000);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(summaries(published).at(-1)).toBe('update Hello you');
  });

  test('each upsert has the date of its own publication, even if the clock was set back', async () => {
    const { publisher, published } = stage();
    const events = runOf(start, item, delta('Hello'), done);
    const dates = ['2031-05-04T09:30:00.000Z', '2031-05-03T08:00:00.000Z'];
    vi.setSystemTime('2031-05-04T09:30:00.000Z');
    for (const event of events.slice(0, 3)) await publisher.process(event);
    vi.setSystemTime('2031-05-03T08:00:00.000Z');
    for (const event of events.slice(3)) await publisher.process(event);
    const upserts = published.filter(({ payloadType }) => payloadType === 'item_upsert');
    expect(upserts.map(({ payload }) => JSON.parse(payload).emittedAt)).toEqual(dates);
  });

  test('buffered text is published after a second without text', async () => {
    const { publisher, published } = stage();
    for (const event of runOf(start, item, delta('Hello'), delta(' you'))) {
      await publisher.process(event);
    }
    await vi.advanceTimersByTimeAsync(999);
    expect(summaries(published)).toEqual(['turn_started', 'create Hello']);
    await vi.advanceTimersByTimeAsync(1);
    expect(summaries(published).at(-1)).toBe('update Hello you');
  });
});

test('FR-003-04: a published item that is withdrawn is published as discarded', async () => {
  const { publisher, published } = stage();
  const withdrawn: EventPayload = { type: 'item_cancelled', itemId: 'a' };
  for (const event of runOf(start, item, delta('Hello'), withdrawn)) await publisher.process(event);
  const { payloadType, turnId, payload } = published.at(-1)!;
  expect([payloadType, turnId]).toEqual(['item_discard', 'turn-1']);
  expect(JSON.parse(payload)).toEqual({ type: 'item_discard', turnId: 'turn-1', itemId: 'a' });
});

describe('when it closes', () => {
  test('FR-003-05: buffered text is published, and nothing is published after the buffered text', async () => {
    const { publisher, published } = stage();
    for (const event of runOf(start, item, delta('Hello'), delta(' you'))) {
      await publisher.process(event);
    }
    await publisher.close();
    expect(summaries(published)).toEqual(['turn_started', 'create Hello', 'update Hello you']);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(published).toHaveLength(3);
  });

  test('FR-003-05: a message that waits for a retry is retried at once', async () => {
    const { publisher, published, triedAt } = stage({ failures: 1 });
    const processing = publisher.process(runOf(start)[0]!);
    await vi.advanceTimersByTimeAsync(10);
    await publisher.close();
    await processing;
    expect(triedAt).toEqual([0, 10]);
    expect(summaries(published)).toEqual(['turn_started']);
  });

  test('FR-003-05: a failed message is tried once more', async () => {
    const { publisher, published } = stage({ failures: 4 });
    const failure = failureOf(publisher.process(runOf(start)[0]!));
    await vi.advanceTimersByTimeAsync(7_000);
    expect(await failure).toBeInstanceOf(Error);
    await publisher.close();
    expect(summaries(published)).toEqual(['turn_started']);
  });
});

describe('a message that cannot be published', () => {
  test('TC-13: is tried again after a second, and delivered', async () => {
    const { publisher, published, triedAt } = stage({ failures: 1 });
    const processing = publisher.process(runOf(start)[0]!);
    await vi.advanceTimersByTimeAsync(1_000);
    await processing;
    expect(triedAt).toEqual([0, 1_000]);
    expect(summaries(published)).toEqual(['turn_started']);
  });

  test('TC-14: is dropped after three retries with doubled delays, and the error is reported', async () => {
    const { publisher, published, triedAt } = stage({ failures: Infinity });
    const failure = failureOf(publisher.process(runOf(start)[0]!));
    await vi.advanceTimersByTimeAsync(7_000);
    expect(await failure).toMatchObject({ message: 'Redis is away.' });
    expect(triedAt).toEqual([0, 1_000, 3_000, 7_000]);
    expect(published).toEqual([]);
  });

  test('TC-14: with more retries, no delay is longer than ten seconds', async () => {
    const { publisher, triedAt } = stage({ failures: Infinity, settings: { retryAttempts: 6 } });
    const failure = failureOf(publisher.process(runOf(start)[0]!));
    await vi.advanceTimersByTimeAsync(35_000);
    expect(await failure).toBeInstanceOf(Error);
    expect(triedAt).toEqual([0, 1_000, 3_000, 7_000, 15_000, 25_000, 35_000]);
  });

  test('FR-003-03: retries and delays are settings', async () => {
    const settings = { retryAttempts: 2, retryBaseMs: 10, retryMaxMs: 15 };
    const { publisher, triedAt } = stage({ failures: Infinity, settings });
    const failure = failureOf(publisher.process(runOf(start)[0]!));
    await vi.advanceTimersByTimeAsync(25);
    expect(await failure).toBeInstanceOf(Error);
    expect(triedAt).toEqual([0, 10, 25]);
  });

  test('later messages are tried once without retries; after a success the latest states are published', async () => {
    const { publisher, published, triedAt } = stage({ failures: 5 });
    const [first, second, third, fourth] = runOf(start, item, delta('Hello'), done);
    const failure = failureOf(publisher.process(first!));
    await vi.advanceTimersByTimeAsync(7_000);
    expect(await failure).toBeInstanceOf(Error);
    await publisher.process(second!);
    expect(await failureOf(publisher.process(third!))).toBeInstanceOf(Error);
    await publisher.process(fourth!);
    expect(triedAt).toEqual([0, 1_000, 3_000, 7_000, 7_000, 7_000, 7_000]);
    expect(summaries(published)).toEqual(['complete Hi', 'turn_started']);
  });

  test('a message that can never be published blocks neither later messages nor the turn’s end', async () => {
    const refuses = ({ payload }: UpsertMessage) => JSON.parse(payload).status === 'complete';
    const { publisher, published } = stage({ refuses, settings: { retryAttempts: 0 } });
    const [, , , ...ended] = runOf(start, item, delta('Hello'), done, end);
    for (const event of runOf(start, item, delta('Hello'))) await publisher.process(event);
    expect(await failureOf(publisher.process(ended[0]!))).toBeInstanceOf(Error);
    await publisher.process(ended[1]!);
    expect(summaries(published)).toEqual(['turn_started', 'create Hello', 'turn_complete']);
  });

  test('if an item’s last state cannot be published, the turn’s end from the same event is still published', async () => {
    const refuses = ({ payload }: UpsertMessage) => JSON.parse(payload).status === 'error';
    const { publisher, published } = stage({ refuses, settings: { retryAttempts: 0 } });
    const error = { code: 'MODEL_AWAY', message: 'The model is away.' };
    const [begun, opened, said, failed] = runOf(start, item, delta('Hello'), {
      type: 'response_error',
      error,
    });
    for (const event of [begun!, opened!, said!]) await publisher.process(event);
    expect(await failureOf(publisher.process(failed!))).toBeInstanceOf(Error);
    expect(summaries(published).at(-1)).toBe('turn_error');
  });

  test('the turn’s end gets all its retries, after the failed messages', async () => {
    const { publisher, published } = stage({ failures: 6 });
    const [first, , , last] = runOf(start, item, done, end);
    const failure = failureOf(publisher.process(first!));
    await vi.advanceTimersByTimeAsync(7_000);
    expect(await failure).toBeInstanceOf(Error);
    const ending = publisher.process(last!);
    await vi.advanceTimersByTimeAsync(3_000);
    await ending;
    expect(summaries(published)).toEqual(['turn_started', 'turn_complete']);
  });

  test('the turn’s end gets its retries even if an earlier failed message is rejected again', async () => {
    let ends = 0;
    const refuses = ({ payload }: UpsertMessage): boolean => {
      const { type } = JSON.parse(payload);
      return type === 'turn_started' || (type === 'turn_complete' && ++ends === 1);
    };
    const { publisher, published } = stage({
      refuses,
      settings: { retryAttempts: 1, retryBaseMs: 10 },
    });
    const failure = failureOf(publisher.process(runOf(start)[0]!));
    await vi.advanceTimersByTimeAsync(10);
    expect(await failure).toBeInstanceOf(Error);
    const ending = publisher.process(runOf(start, end)[1]!);
    await vi.advanceTimersByTimeAsync(20);
    await ending;
    expect(summaries(published)).toEqual(['turn_complete']);
  });

  test('a flush that fails is reported', async () => {
    const { publisher, troubles } = stage({
      refuses: ({ payload }) => JSON.parse(payload).status === 'update',
      settings: { retryAttempts: 0 },
    });
    for (const event of runOf(start, item, delta('Hello'), delta(' you'))) {
      await publisher.process(event);
    }
    await vi.advanceTimersByTimeAsync(1_000);
    expect(troubles).toHaveLength(1);
  });
});

test('a message’s id is computed from its run, its event and its position in the event, and never changes', async () => {
  const { publisher, published } = stage();
  const error = { code: 'MODEL_AWAY', message: 'The model is away.' };
  for (const event of runOf(start, item, delta('Hello'), { type: 'response_error', error })) {
    await publisher.process(event);
  }
  expect(published.map(({ eventId }) => eventId)).toEqual([
    '2e0fa43e-7d9c-8d72-8951-e0be60453b7c',
    'bc590a78-0593-8849-9bc3-624a5f55a04a',
    '73c49d0b-b4c2-8d61-b4c5-77a75effd95f',
    '6401d895-0852-8b43-890d-3fdfbbd8243a',
  ]);
});

test('FR-003-03: if words are counted as tokens, long words are not published earlier than short words', async () => {
  const settings = {
    batchGradientTokens: [2],
    tokenCounter: 'words',
    firstEmission: 'threshold',
  } as const;
  const { publisher, published } = stage({ settings });
  const long = 'Donaudampfschifffahrtsgesellschaft';
  for (const event of runOf(start, item, delta(`${long} ${long}`), delta(' a'))) {
    await publisher.process(event);
  }
  expect(summaries(published)).toEqual(['turn_started', `create ${long} ${long} a`]);
});

test('a message that fails after another message was published gets all its retries again', async () => {
  const failing = new Set([1, 2, 5]);
  let tries = 0;
  const { publisher, published, triedAt } = stage({
    refuses: () => failing.has(++tries),
    settings: { retryAttempts: 1, retryBaseMs: 10 },
  });
  const [first, second, third, fourth] = runOf(start, item, delta('Hello'), done);
  const failure = failureOf(publisher.process(first!));
  await vi.advanceTimersByTimeAsync(10);
  expect(await failure).toBeInstanceOf(Error);
  await publisher.process(second!);
  await publisher.process(third!);
  const processing = publisher.process(fourth!);
  await vi.advanceTimersByTimeAsync(10);
  await processing;
  expect(triedAt).toEqual([0, 10, 10, 10, 10, 20]);
  expect(summaries(published)).toEqual(['create Hello', 'turn_started', 'complete Hi']);
});

test('if several messages fail before the turn’s end, only the first is retried', async () => {
  const { publisher, triedAt } = stage({
    refuses: ({ payload }) => JSON.parse(payload).type !== 'turn_complete',
    settings: { retryAttempts: 2, retryBaseMs: 10, retryMaxMs: 10 },
  });
  const [first, second, third, fourth, last] = runOf(start, item, delta('Hello'), done, end);
  const failure = failureOf(publisher.process(first!));
  await vi.advanceTimersByTimeAsync(20);
  expect(await failure).toBeInstanceOf(Error);
  await publisher.process(second!);
  expect(await failureOf(publisher.process(third!))).toBeInstanceOf(Error);
  expect(await failureOf(publisher.process(fourth!))).toBeInstanceOf(Error);
  const ending = publisher.process(last!);
  await vi.advanceTimersByTimeAsync(1_000);
  await ending;
  expect(triedAt).toEqual([0, 10, 20, 20, 20, 20, 30, 40, 40, 40]);
});
