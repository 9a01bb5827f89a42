import { SessionInUseError } from '@liminal/agents';
import { type ResponseStore, StorageError } from '@liminal/storage';
import { openMemoryStorage } from '@liminal/storage/memory';
import { beforeEach, expect, type MockInstance, onTestFinished, test, vi } from 'vitest';
import { defaultSettings } from '../settings.ts';
import { MessageQueue } from './message-queue.ts';
import { SessionRecordHolder, newRecord } from './session-record.ts';

const time = '2026-01-01T00:00:00.000Z';
const start = newRecord({
  sessionId: 's1',
  cliType: 'scripted',
  projectId: '/',
  projectDir: '/',
  title: '',
  createdAt: time,
  updatedAt: time,
  config: {},
  fence: 0,
});

/** The next save of the record waits for this promise. */
let storing: PromiseWithResolvers<void>;
/** Resolves when the log has the delivered message. */
let logged: PromiseWithResolvers<void>;
/** Whether the turn of the delivered message has ended. */
let isOver: boolean;
let delivered: string[];
/** The times at which delivery was tried, in ms since the epoch. */
let tries: number[];
/** Whether another program has the session open. */
let isInUse: boolean;
let stops: number;
let stop: () => Promise<void>;
let warnings: string[];
let outbox: MessageQueue;
let record: SessionRecordHolder;
let save: MockInstance<ResponseStore['saveSession']>;

beforeEach(() => {
  storing = Promise.withResolvers<void>();
  logged = Promise.withResolvers<void>();
  isOver = false;
  delivered = [];
  tries = [];
  isInUse = false;
  stops = 0;
  stop = async () => void (stops += 1);
  warnings = [];
  const { store } = openMemoryStorage();
  save = vi.spyOn(store, 'saveSession');
  save.mockImplementationOnce(async () => storing.promise);
  record = new SessionRecordHolder(start, store, nothing, nothing);
  const shared = { settings: defaultSettings, iso: () => time, serverEnds: () => false };
  const context = { ...shared, record, changed: nothing, warn };
  const turns = {
    get isRunning() {
      return delivered.length > 0 && !isOver;
    },
    logged: async () => logged.promise,
  };
  outbox = new MessageQueue(context, { isStopping: false }, turns, {
    deliver: async ({ message }, _, stored) => {
      await stored;
      tries.push(Date.now());
      if (isInUse) throw new SessionInUseError('A terminal has it open.');
      delivered.push(message);
      return true;
    },
    stop: async () => stop(),
    onTrouble: (error) => expect.fail(String(error)),
  });
});

function nothing(): void {}

function warn(error: unknown): void {
  warnings.push(String(error));
}

test('a message is sent to the agent only once, even if the queue is sent at the same time as the message', async () => {
  const sending = outbox.send({ message: 'Hello' }, 't1');
  outbox.next();
  storing.resolve();
  expect(await sending).toEqual({ turnId: 't1', queued: false });
  expect(delivered).toEqual(['Hello']);
});

test('while another program has the session open, the delays between tries to send a message grow', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  isInUse = true;
  storing.resolve();
  const began = Date.now();
  expect(await outbox.send({ message: 'Hello' }, 't1')).toEqual({ turnId: 't1', queued: true });
  await vi.advanceTimersByTimeAsync(190_000);
  const waits = tries.map((at, place) => at - (tries[place - 1] ?? began));
  expect(waits).toEqual([0, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);

  isInUse = false;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(delivered).toEqual(['Hello']);
});

test('a message that could not be stored is not sent to the agent, and the next message is sent', async () => {
  const sending = outbox.send({ message: 'Hello' }, 't1');
  const next = outbox.send({ message: 'And?' }, 't2');
  outbox.next();
  storing.reject(new StorageError('STORE_WRITE_FAILED', 'Not now.'));
  await expect(sending).rejects.toThrow('Not now.');
  expect(await next).toEqual({ turnId: 't2', queued: true });
  await expect.poll(() => delivered).toEqual(['And?']);
});

test('a message that is sent twice is delivered once, and both calls resolve with the same result', async () => {
  const sending = [
    outbox.send({ message: 'Hello' }, 't1'),
    outbox.send({ message: 'Hello' }, 't1'),
  ];
  storing.resolve();
  const answer = { turnId: 't1', queued: false };
  expect(await Promise.all(sending)).toEqual([answer, answer]);
  expect(await outbox.send({ message: 'Hello' }, 't1')).toEqual(answer);
  expect(delivered).toEqual(['Hello']);
});

test('if a message that is sent twice cannot be stored, both calls reject', async () => {
  const sending = [
    outbox.send({ message: 'Hello' }, 't1'),
    outbox.send({ message: 'Hello' }, 't1'),
  ];
  storing.reject(new StorageError('STORE_WRITE_FAILED', 'Not now.'));
  const outcomes = await Promise.allSettled(sending);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(delivered).toEqual([]);
});

test('a stop during the storing of a message stops the message’s turn', async () => {
  const sending = outbox.send({ message: 'Hello' }, 't1');
  outbox.stopWhenSent();
  storing.resolve();
  await sending;
  expect([delivered, stops]).toEqual([['Hello'], 1]);
});

test('a message whose turn cannot be stopped is still sent, and the failure is logged', async () => {
  stop = async () => {
    throw new Error('It does not listen.');
  };
  const sending = outbox.send({ message: 'Hello' }, 't1');
  outbox.stopWhenSent();
  storing.resolve();
  expect(await sending).toEqual({ turnId: 't1', queued: false });
  await expect.poll(() => warnings).toEqual(['Error: It does not listen.']);
});

test('stopping a message that could not be stored does not stop the next message', async () => {
  const sending = outbox.send({ message: 'Hello' }, 't1');
  outbox.stopWhenSent();
  storing.reject(new StorageError('STORE_WRITE_FAILED', 'Not now.'));
  await expect(sending).rejects.toThrow('Not now.');
  await outbox.send({ message: 'Again' }, 't2');
  expect([delivered, stops]).toEqual([['Again'], 0]);
});

test('SAFE: a new or changed message is rejected if all queued messages together would be too long', async () => {
  const large = 'x'.repeat(600 * 1024);
  storing.resolve();
  await outbox.send({ message: 'Hello' }, 't1');
  await outbox.send({ message: large }, 't2');
  await expect(outbox.send({ message: large }, 't3')).rejects.toMatchObject({ code: 'QUEUE_FULL' });
  await outbox.send({ message: 'Short.' }, 't4');
  await expect(outbox.edit('t4', { message: large })).rejects.toMatchObject({ code: 'QUEUE_FULL' });
  await outbox.remove('t2');
  await outbox.edit('t4', { message: large });
});

test('if a new order of the queue cannot be stored, the earlier order is restored', async () => {
  storing.resolve();
  await outbox.send({ message: 'Go.' }, 't0');
  for (const turnId of ['t1', 't2', 't3']) await outbox.send({ message: turnId }, turnId);
  save.mockRejectedValueOnce(new StorageError('STORE_WRITE_FAILED', 'Not now.'));
  await expect(outbox.move('t3', 't1')).rejects.toThrow('Not now.');
  const { queue } = record.value;
  expect(queue.map(({ turnId }) => turnId)).toEqual(['t0', 't1', 't2', 't3']);
});

test('a message that is being steered into the running turn cannot be sent, changed, moved or removed', async () => {
  storing.resolve();
  await outbox.send({ message: 'Go.' }, 't0');
  await outbox.send({ message: 'one' }, 't1');
  const taking = Promise.withResolvers<{ turnId: string }>();
  const steer = async () => taking.promise;
  const sending = outbox.sendNow('t1', steer);
  for (const change of [
    async () => outbox.remove('t1'),
    async () => outbox.edit('t1', { message: 'other' }),
    async () => outbox.move('t1'),
    async () => outbox.sendNow('t1', steer),
  ]) {
    await expect(change()).rejects.toMatchObject({ code: 'MESSAGE_NOT_QUEUED' });
  }
  logged.resolve();
  await expect.poll(() => record.value.queue.map(({ turnId }) => turnId)).toEqual(['t1']);
  isOver = true;
  outbox.next();
  expect(outbox.isSending).toBe(false);
  taking.resolve({ turnId: 't0' });
  expect(await sending).toEqual({ turnId: 't0', steered: true });
  expect(delivered).toEqual(['Go.']);
});
