import type { EventPayload, StreamEvent } from '@liminal/protocol';
import type { EventLog } from '@liminal/storage';
import { StorageError } from '@liminal/storage';
import { openMemoryStorage } from '@liminal/storage/memory';
import { describe, expect, test, vi } from 'vitest';
import { BlobKeeper } from '../blobs/index.ts';
import { DeltaPace } from './delta-pace.ts';
import { RunWriter } from './run-writer.ts';
import { Supervisor } from './supervisor.ts';

const run = {
  sessionId: 's',
  runId: 'r',
  traceContext: { traceparent: `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01` },
};
const start: EventPayload = { type: 'response_start', modelId: 'm', providerId: 'p' };
const open: EventPayload = { type: 'item_start', itemId: 'a', itemType: 'message' };
const done: EventPayload = { type: 'response_done', status: 'completed' };

const itemDone = {
  type: 'item_done',
  itemId: 'a',
  finalItem: { type: 'message', id: 'a', content: 'x', origin: 'agent' },
} as const;

/** A pace that gathers for the whole cadence, as on a busy server. */
function slowPace(cadenceMs: number): DeltaPace {
  const pace = new DeltaPace(cadenceMs, () => 0);
  pace.spent(10_000);
  return pace;
}

function makeWriter(log: EventLog, pace: DeltaPace | number, maxUnlogged = 1_000_000) {
  const logged: StreamEvent[] = [];
  const troubles: unknown[] = [];
  const overflow = Promise.withResolvers<void>();
  const writer = new RunWriter({
    mayBegin: async () => true,
    log,
    run,
    providerId: 'p',
    pace: typeof pace === 'number' ? new DeltaPace(pace) : pace,
    maxUnlogged,
    blobs: new BlobKeeper(openMemoryStorage().blobs, run.sessionId),
    supervisor: new Supervisor((error) => troubles.push(error)),
  });
  writer.on('logged', (events) => logged.push(...events));
  writer.on('refused', (error) => troubles.push(error));
  writer.on('overflow', () => {
    say({ type: 'response_error', error: { code: 'LOG_UNAVAILABLE', message: 'full' } });
    overflow.resolve();
  });
  const say = (...payloads: EventPayload[]) => {
    for (const payload of payloads) {
      writer.add({ turnId: 't', timestamp: '2026-01-01T00:00:00.000Z', payload });
    }
  };
  return { writer, say, logged, troubles, overflowed: overflow.promise };
}

const text = (itemId: string, deltaContent: string): EventPayload => ({
  type: 'item_delta',
  itemId,
  deltaContent,
});

test('INV-1 a run’s events are numbered from 0 without a gap, and the log has the same events', async () => {
  const { log } = openMemoryStorage();
  const { writer, say, logged } = makeWriter(log, 0);
  say(start, open, text('a', 'x'), text('a', 'y'), done);
  await writer.ended;
  expect(logged.map((event) => event.seq)).toEqual(logged.map((_, index) => index));
  expect(await log.read('r')).toEqual(logged);
});

test('INV-2 nothing follows the terminal event', async () => {
  const { log } = openMemoryStorage();
  const { writer, say, logged } = makeWriter(log, 0);
  say(start, done, open, { type: 'response_error', error: { code: 'X', message: 'x' } });
  const response = await writer.ended;
  expect(logged.map((event) => event.type)).toEqual(['response_start', 'response_done']);
  expect(response?.status).toBe('complete');
});

test('INV-3 the writer closes open items before it writes the terminal event', async () => {
  const { log } = openMemoryStorage();
  const { writer, say, logged } = makeWriter(log, 0);
  say(start, open, text('a', 'half'), {
    type: 'response_error',
    error: { code: 'PROCESS_CRASH', message: 'gone' },
  });
  await writer.ended;
  expect(logged.map((event) => event.type).slice(-2)).toEqual(['item_error', 'response_error']);
});

test('INV-5 on a busy server, a flood of deltas becomes few events, and the text is complete', async () => {
  const { log } = openMemoryStorage();
  const { writer, say, logged } = makeWriter(log, slowPace(10_000));
  say(start, open);
  for (let i = 0; i < 1000; i++) say(text('a', `${i} `));
  say(done);
  const response = await writer.ended;
  expect(logged.filter((event) => event.type === 'item_delta')).toHaveLength(1);
  const [item] = response?.outputItems ?? [];
  expect(item?.type === 'message' && item.content).toBe(
    Array.from({ length: 1000 }, (_, i) => `${i} `).join(''),
  );
});

test('INV-5 if arguments are replaced within the cadence, the item’s end is the same as without a cadence', async () => {
  const shown = async (cadenceMs: number) => {
    const { writer, say } = makeWriter(openMemoryStorage().log, slowPace(cadenceMs));
    const call = { type: 'item_start', itemId: 'a', itemType: 'function_call' } as const;
    const replace = (json: string, deltaContent = ''): EventPayload => ({
      type: 'item_delta',
      itemId: 'a',
      deltaContent,
      patch: { arguments: json },
    });
    say(start, call, text('a', '{'), text('a', '"a":1}'), replace('{"b":'), text('a', '2'));
    say(replace('{"c":', '3'), text('a', '}'), done);
    const [item] = (await writer.ended)?.outputItems ?? [];
    return item?.type === 'function_call' ? item.arguments : undefined;
  };
  expect(await shown(0)).toBe('{"c":3}');
  expect(await shown(10_000)).toBe('{"c":3}');
});

test.each(['SEQ_CONFLICT', 'RUN_ENDED', 'STALE_OWNER'] as const)(
  'a writer stops and does not retry if another writer has taken over its run (%s)',
  async (code) => {
    const { log } = openMemoryStorage();
    const { writer, say, logged, troubles } = makeWriter(log, 0);
    const append = vi.spyOn(log, 'append').mockRejectedValue(new StorageError(code, 'Too late.'));
    say(start, open);
    expect(await writer.ended).toBeUndefined();
    expect(append).toHaveBeenCalledOnce();
    expect(logged).toEqual([]);
    expect(troubles).toEqual([expect.objectContaining({ code })]);
  },
);

test('a writer stops if another server has ended and settled its run', async () => {
  const { log } = openMemoryStorage();
  const { writer, say, troubles } = makeWriter(log, 0);
  const follow = log.follow('r')[Symbol.asyncIterator]();
  say(start);
  const { value: first } = await follow.next();
  if (first === undefined) throw new Error('Nothing was logged.');
  await follow.return?.();
  const end = { ...first, seq: 1, eventId: 'r:1', type: done.type, payload: done } as StreamEvent;
  await log.append('r', [end]);
  await log.settle('r');
  say(open);
  expect(await writer.ended).toBeUndefined();
  expect(troubles).toEqual([expect.objectContaining({ code: 'RUN_ENDED' })]);
});

test('the first delta after silence is logged at once, even with a long cadence', async () => {
  const { log } = openMemoryStorage();
  const { say, logged } = makeWriter(log, slowPace(10_000));
  const follow = log.follow('r')[Symbol.asyncIterator]();
  say(start, open, text('a', 'now'));
  for (const type of ['response_start', 'item_start', 'item_delta']) {
    expect((await follow.next()).value?.type).toBe(type);
  }
  expect(logged.length).toBe(3);
  await follow.return?.();
});

test('INV-5 if appends are cheap, each delta is logged at once; deltas that arrive during an append become one event', async () => {
  const { log } = openMemoryStorage();
  let appended = Promise.withResolvers<void>();
  let takes = Promise.resolve();
  const slow: EventLog = Object.assign(Object.create(log) as EventLog, {
    append: async (...args: Parameters<EventLog['append']>) => {
      appended.resolve();
      await takes;
      await log.append(...args);
    },
  });
  const { writer, say, logged } = makeWriter(slow, 10_000);
  const deltas = (): string[] =>
    logged.flatMap(({ payload }) => (payload.type === 'item_delta' ? payload.deltaContent : []));
  say(start, open);
  await expect.poll(() => logged).toHaveLength(2);
  for (const word of ['one', 'two']) {
    say(text('a', word));
    await expect.poll(() => deltas()).toContain(word);
  }
  const held = Promise.withResolvers<void>();
  takes = held.promise;
  appended = Promise.withResolvers();
  say(text('a', 'three'));
  await appended.promise;
  for (let i = 0; i < 100; i++) say(text('a', '.'));
  held.resolve();
  // No further draft arrives, so the deltas that wait must be logged when the running append ends.
  await expect.poll(() => deltas()).toEqual(['one', 'two', 'three', '.'.repeat(100)]);
  say(done);
  await writer.ended;
});

test('deltas of two items that grow at the same time are not mixed', async () => {
  const { log } = openMemoryStorage();
  const { writer, say } = makeWriter(log, slowPace(10_000));
  say(start, open, { ...open, itemId: 'b' });
  for (let i = 0; i < 3; i++) say(text('a', 'a'), text('b', 'b'));
  say(done);
  const response = await writer.ended;
  expect(response?.outputItems.map((item) => item.type === 'message' && item.content)).toEqual([
    'aaa',
    'bbb',
  ]);
});

test.each<[string, EventPayload]>([
  ['a delta', { type: 'item_delta', itemId: 'a', deltaContent: '', patch: { raw: 1n } }],
  ['a whole item', { ...itemDone, finalItem: { ...itemDone.finalItem, raw: 1n } }],
])(
  'SAFE: %s that cannot be serialised is left out, with a note, and the run continues',
  async (_, bad) => {
    const { log } = openMemoryStorage();
    const { writer, say, logged, troubles } = makeWriter(log, 0);
    say(start, open, bad, text('a', 'x'), done);
    const response = await writer.ended;
    expect(troubles).toHaveLength(1);
    expect(logged.map((event) => event.seq)).toEqual(logged.map((__, index) => index));
    expect(logged.at(-1)?.type).toBe('response_done');
    expect(JSON.stringify(logged)).toContain('NOT_WRITABLE');
    expect(await log.read('r')).toEqual(logged);
    expect(response?.status).toBe('complete');
  },
);

test('SAFE: a run whose end cannot be serialised still ends', async () => {
  const { log } = openMemoryStorage();
  const { writer, say, logged } = makeWriter(log, 0);
  say(start, { type: 'response_error', error: { code: 'X', message: 'x', details: 1n } });
  await writer.ended;
  expect(logged.at(-1)?.payload).toMatchObject({
    type: 'response_error',
    error: { code: 'NOT_WRITABLE' },
  });
});

describe('while the log rejects events', () => {
  /** A log whose disk is full until `free` is called. */
  function fullLog() {
    const { log } = openMemoryStorage();
    let isFull = true;
    let tries = 0;
    const waiting: (() => void)[] = [];
    const full: EventLog = {
      append: async (runId, events) => {
        tries += 1;
        for (const wake of waiting.splice(0)) wake();
        if (isFull) throw new StorageError('LOG_WRITE_FAILED', 'The disk is full.');
        await log.append(runId, events);
      },
      read: async (...args) => log.read(...args),
      follow: (...args) => log.follow(...args),
      unsettled: async () => log.unsettled(),
      settle: async (runId) => log.settle(runId),
      close: async () => log.close(),
    };
    /** Resolves when the log has been called this many times in total. */
    const tried = async (times: number): Promise<void> => {
      while (tries < times) await new Promise<void>((resolve) => waiting.push(resolve));
    };
    return { log: full, tried, free: () => (isFull = false) };
  }

  test('INV-1 INV-6 rejected events are kept, and the error is reported; later the events are written in order', async () => {
    const { log, tried, free } = fullLog();
    const { writer, say, logged, troubles } = makeWriter(log, 0);
    say(start, open, text('a', 'kept'), done);
    await tried(2);
    expect(logged).toEqual([]);
    expect(troubles).toEqual([expect.objectContaining({ code: 'LOG_WRITE_FAILED' })]);
    free();
    await writer.ended;
    expect(await log.read('r')).toEqual(logged);
    expect(logged.map((event) => event.seq)).toEqual([0, 1, 2, 3, 4]);
  });

  test('INV-5 deltas are joined whatever the cadence is, and all deltas are written once the disk has room', async () => {
    const { log, tried, free } = fullLog();
    const { writer, say, logged } = makeWriter(log, 0);
    say(start, open, text('a', 'first'));
    for (const times of [1, 2]) {
      await tried(times);
      for (let i = 0; i < 500; i++) say(text('a', '.'));
    }
    free();
    const said = () =>
      logged.flatMap(({ payload }) => (payload.type === 'item_delta' ? payload.deltaContent : []));
    // The retry must write the text even though no further event arrives.
    await expect.poll(() => said().join('')).toBe(`first${'.'.repeat(1000)}`);
    expect(said().length).toBeLessThan(5);
    say(text('a', 'last'), done);
    const response = await writer.ended;
    expect(response?.outputItems).toMatchObject([{ content: `first${'.'.repeat(1000)}last` }]);
  });

  test('INV-1 INV-2 INV-3 if too many events wait, the run ends; the events and the end are written once the disk has room', async () => {
    const { log, tried, free } = fullLog();
    const { writer, say, logged, overflowed } = makeWriter(log, 0, 100_000);
    say(start, open, text('a', 'x'.repeat(99_000)));
    await tried(2);
    expect(writer.sealed).toBe(false);
    say(text('a', 'y'.repeat(2_000)));
    await overflowed;
    expect(writer.sealed).toBe(true);
    say(text('a', 'too late'), done);
    free();
    const response = await writer.ended;
    expect(logged.map((event) => event.seq)).toEqual(logged.map((_, seq) => seq));
    expect(logged.map((event) => event.type)).toEqual([
      'response_start',
      'item_start',
      'item_delta',
      'item_delta',
      'item_error',
      'response_error',
    ]);
    expect(response).toMatchObject({
      status: 'error',
      error: { code: 'LOG_UNAVAILABLE' },
      outputItems: [{ content: 'x'.repeat(99_000) + 'y'.repeat(2_000) }],
    });
    expect(await log.read('r')).toEqual(logged);
  });

  test('the limit counts all events, not only deltas', async () => {
    const { writer, say, overflowed } = makeWriter(fullLog().log, 0, 100_000);
    const content = 'x'.repeat(100_000);
    const finalItem = { id: 'a', type: 'message', origin: 'agent', content } as const;
    say(start, { type: 'item_done', itemId: 'a', finalItem });
    await overflowed;
    expect(writer.sealed).toBe(true);
    // Without this call, the writer would retry for ever, during later tests in this process.
    writer.abandon();
  });

  test('abandoning a run stops its writer, and returns how many events and characters are lost', async () => {
    vi.useFakeTimers();
    const { log, tried, free } = fullLog();
    const { writer, say, logged } = makeWriter(log, slowPace(10_000));
    say(start, open, text('a', 'first'), text('a', 'x'.repeat(5_000)));
    await tried(1);
    const { events, characters } = writer.abandon();
    expect(events).toBe(3);
    expect(characters).toBeGreaterThan(5_005);
    expect(await writer.ended).toBeUndefined();
    free();
    say(text('a', 'more'), done);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(writer.abandon()).toEqual({ events, characters });
    expect(logged).toEqual([]);
    vi.useRealTimers();
  });

  test('an abandoned run loses no events if the log has all of its events', async () => {
    const { log } = openMemoryStorage();
    const { writer, say } = makeWriter(log, 0);
    say(start, done);
    await writer.ended;
    expect(writer.abandon()).toEqual({ events: 0, characters: 0 });
  });
});

test('SAFE: a long text and a flood of events are written in batches, and other tasks run between the batches', async () => {
  const { log } = openMemoryStorage();
  const { writer, say, logged } = makeWriter(log, 0);
  let turns = 0;
  const count = (): void => {
    turns += 1;
    if (!writer.sealed || logged.at(-1)?.type !== 'response_done') setImmediate(count);
  };
  const sizes: number[] = [];
  const { append } = log;
  log.append = (runId, events) => {
    sizes.push(events.length);
    return append.call(log, runId, events);
  };
  setImmediate(count);
  const lines = Array.from({ length: 3_000 }, (_, n) => [
    { ...open, itemId: `i${n}` },
    text(`i${n}`, 'x'.repeat(100)),
  ]);
  say(start, open, text('a', 'x'.repeat(1_000_000)), ...lines.flat(), done);
  await writer.ended;
  expect(await log.read('r')).toEqual(logged);
  expect(logged).toHaveLength(6_000 + 3_001 + 4);
  // The long text fills some batches; the flood of events fills further batches, with about 1,500 events each.
  expect(sizes.length).toBeGreaterThan(5);
  expect(Math.max(...sizes)).toBeLessThan(5_000);
  expect(turns).toBeGreaterThanOrEqual(sizes.length);
});
