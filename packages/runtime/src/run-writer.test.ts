import type { EventPayload, StreamEvent } from '@liminal/protocol';
import type { EventLog } from '@liminal/storage';
import { openMemoryStorage, StorageError } from '@liminal/storage';
import { expect, test } from 'vitest';
import { RunWriter } from './run-writer.ts';

const run = { sessionId: 's', runId: 'r', traceContext: { traceparent: '00-1-2-01' } };
const start: EventPayload = { type: 'response_start', modelId: 'm', providerId: 'p' };
const open: EventPayload = { type: 'item_start', itemId: 'a', itemType: 'message' };
const done: EventPayload = { type: 'response_done', status: 'completed' };

function makeWriter(log: EventLog, cadenceMs: number) {
  const logged: StreamEvent[] = [];
  const troubles: unknown[] = [];
  const writer = new RunWriter({
    log,
    run,
    providerId: 'p',
    cadenceMs,
    onLogged: (events) => logged.push(...events),
    onTrouble: (error) => troubles.push(error),
  });
  const say = (...payloads: EventPayload[]) => {
    for (const payload of payloads) {
      writer.add({ turnId: 't', timestamp: '2026-01-01T00:00:00.000Z', payload });
    }
  };
  return { writer, say, logged, troubles };
}

const text = (itemId: string, deltaContent: string): EventPayload => ({
  type: 'item_delta',
  itemId,
  deltaContent,
});

test('INV-1 events are numbered from 0 without a gap, and are the ones that the log has', async () => {
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

test('INV-3 what is open when the run ends is closed before its terminal event', async () => {
  const { log } = openMemoryStorage();
  const { writer, say, logged } = makeWriter(log, 0);
  say(start, open, text('a', 'half'), {
    type: 'response_error',
    error: { code: 'PROCESS_CRASH', message: 'gone' },
  });
  await writer.ended;
  expect(logged.map((event) => event.type).slice(-2)).toEqual(['item_error', 'response_error']);
});

test('INV-5 a flood within the cadence becomes few events, and the text is whole', async () => {
  const { log } = openMemoryStorage();
  const { writer, say, logged } = makeWriter(log, 10_000);
  say(start, open);
  for (let i = 0; i < 1000; i++) say(text('a', `${i} `));
  say(done);
  const response = await writer.ended;
  expect(logged.filter((event) => event.type === 'item_delta')).toHaveLength(2);
  const [item] = response?.outputItems ?? [];
  expect(item?.type === 'message' && item.content).toBe(
    Array.from({ length: 1000 }, (_, i) => `${i} `).join(''),
  );
});

test('the first delta after silence is logged at once, whatever the cadence', async () => {
  const { log } = openMemoryStorage();
  const { say, logged } = makeWriter(log, 10_000);
  const follow = log.follow('r')[Symbol.asyncIterator]();
  say(start, open, text('a', 'now'));
  for (const type of ['response_start', 'item_start', 'item_delta']) {
    expect((await follow.next()).value?.type).toBe(type);
  }
  expect(logged.length).toBe(3);
  await follow.return?.();
});

test('deltas of two items that stream at once stay apart', async () => {
  const { log } = openMemoryStorage();
  const { writer, say } = makeWriter(log, 10_000);
  say(start, open, { ...open, itemId: 'b' });
  for (let i = 0; i < 3; i++) say(text('a', 'a'), text('b', 'b'));
  say(done);
  const response = await writer.ended;
  expect(response?.outputItems.map((item) => item.type === 'message' && item.content)).toEqual([
    'aaa',
    'bbb',
  ]);
});

test('when the log refuses, events are kept, the trouble is told, and they are written in order afterwards', async () => {
  const { log } = openMemoryStorage();
  let refusals = 2;
  const full: EventLog = {
    append: async (runId, events) => {
      if (refusals-- > 0) throw new StorageError('LOG_WRITE_FAILED', 'The disk is full.');
      await log.append(runId, events);
    },
    read: (...args) => log.read(...args),
    follow: (...args) => log.follow(...args),
    unsettled: () => log.unsettled(),
    settle: (runId) => log.settle(runId),
    close: () => log.close(),
  };
  const { writer, say, logged, troubles } = makeWriter(full, 0);
  say(start, open, text('a', 'kept'), done);
  await writer.ended;
  expect(troubles).toHaveLength(2);
  expect(await log.read('r')).toEqual(logged);
  expect(logged.map((event) => event.seq)).toEqual([0, 1, 2, 3, 4]);
});
