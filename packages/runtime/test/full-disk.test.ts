import { testAtLength } from '@liminal/testkit/at-length';
import { StorageError } from '@liminal/storage';
import { openMemoryStorage } from '@liminal/storage/memory';
import { afterEach, expect, test, vi } from 'vitest';
import type { RuntimeSettings } from '../src/index.ts';
import type { World } from './harness.ts';
import { Reader, startWorld } from './harness.ts';
import { WitnessedMedium } from './medium.ts';

/** Whether log and store accept writes; separately, because each needs its own space. */
interface Disk {
  log: 'free' | 'full';
  store: 'free' | 'full';
}

let world: World;
let sessionId: string;
let disk: Disk;

afterEach(async () => {
  disk.log = 'free';
  disk.store = 'free';
  await world.end();
});

/** An in-memory medium that rejects writes as the drivers do when the disk is full. */
function fillableMedium(): WitnessedMedium {
  const { log, store, blobs } = openMemoryStorage();
  const open = async () => ({
    log: refusing(log, ['append'], () => disk.log === 'full', 'LOG_WRITE_FAILED'),
    store: refusing(
      store,
      ['saveSession', 'saveResponse'],
      () => disk.store === 'full',
      'STORE_WRITE_FAILED',
    ),
    blobs,
    close: async () => {},
  });
  return new WitnessedMedium({ open, crash: async () => {}, remove() {} });
}

function refusing<T extends object>(
  target: T,
  writes: readonly (keyof T & string)[],
  isFull: () => boolean,
  code: StorageError['code'],
): T {
  return new Proxy(target, {
    get: (_, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      const isWrite = writes.some((write) => write === name);
      return (...args: unknown[]): unknown =>
        isWrite && isFull()
          ? Promise.reject(new StorageError(code, 'The disk is full.'))
          : Reflect.apply(member, target, args);
    },
  });
}

async function start(settings: Partial<RuntimeSettings> = {}): Promise<Reader> {
  disk = { log: 'free', store: 'free' };
  world = await startWorld(settings, { medium: fillableMedium() });
  const { projectDir } = world;
  ({ sessionId } = await world.runtime.createSession({ cliType: 'scripted', projectDir }));
  return new Reader(world.runtime, sessionId, { deltas: true }).untilType('session:info');
}

const codes = (reader: Reader) => reader.ofType('session:error').map(({ code }) => code);
const stateOf = (reader: Reader) => reader.ofType('session:info').at(-1)?.info.session.state;

test('INV-6 events that the log rejects are kept and shown later; readers get the reason for the delay', async () => {
  const reader = await start();
  await world.runtime.send(sessionId, 'Hello');
  world.agent.text(sessionId, 'a', 'before ');
  await reader.until((r) => r.items.has('a'));
  disk.log = 'full';
  world.agent.emit(sessionId, { type: 'item_delta', itemId: 'a', deltaContent: 'meanwhile' });
  world.agent.finish(sessionId);
  await reader.untilType('session:error');
  expect(codes(reader)).toEqual(['LOG_WRITE_FAILED']);
  expect(reader.items.get('a')).toMatchObject({ content: 'before ' });
  disk.log = 'free';
  await reader.untilTurn('turn_complete');
  expect(reader.items.get('a')).toMatchObject({ content: 'before meanwhile', status: 'complete' });
});

test('INV-6 if the agent begins a turn by itself, the turn comes after the previous turn’s end, even if the log accepts that end late', async () => {
  const reader = await start();
  await world.runtime.send(sessionId, 'Hello');
  await reader.untilTurn('turn_started');
  disk.log = 'full';
  world.agent.finish(sessionId);
  await reader.untilType('session:error');
  disk.log = 'free';
  const began = { type: 'response_start', modelId: 'm', providerId: 'scripted' } as const;
  world.agent.emit(sessionId, began, 'turn-of-its-own');
  world.agent.finish(sessionId);
  await reader.untilTurn('turn_complete', 2);
  const order = reader.ofType('session:turn').map(({ payload }) => payload.type);
  expect(order).toEqual(['turn_started', 'turn_complete', 'turn_started', 'turn_complete']);
});

test('INV-2 INV-3 beyond its limit the turn ends with LOG_UNAVAILABLE, its agent is stopped, and its events are kept', async () => {
  const reader = await start({ maxUnlogged: 50_000 });
  await world.runtime.send(sessionId, 'Hello');
  await reader.untilTurn('turn_started');
  disk.log = 'full';
  world.agent.text(sessionId, 'a', 'x'.repeat(60_000));
  await reader.until((r) => codes(r).includes('LOG_UNAVAILABLE'));
  await reader.until((r) => r.ofType('session:info').at(-1)?.info.session.isAlive === false);
  world.agent.emit(sessionId, { type: 'item_delta', itemId: 'a', deltaContent: 'too late' });
  disk.log = 'free';
  await reader.untilTurn('turn_error');
  expect(reader.ofType('session:turn').at(-1)?.payload).toMatchObject({
    errorCode: 'LOG_UNAVAILABLE',
  });
  expect(reader.items.get('a')).toMatchObject({ content: 'x'.repeat(60_000), status: 'error' });
  await reader.until((r) => stateOf(r) === 'failed');
  await world.runtime.send(sessionId, 'Go on');
  expect(world.agent.received).toEqual(['Hello', 'Go on']);
});

test('turns that the store rejects are stored in order when it accepts writes again', async () => {
  const reader = await start();
  await world.runtime.send(sessionId, 'one');
  const second = await world.runtime.send(sessionId, 'two');
  expect(second.queued).toBe(true);
  disk.store = 'full';
  world.agent.text(sessionId, 'a', 'first answer');
  world.agent.finish(sessionId);
  await reader.untilTurn('turn_complete');
  // Until the first turn is in history the session is busy, so that runs do not gather in memory.
  await expect(world.runtime.send(sessionId, 'three')).rejects.toMatchObject({
    code: 'STORE_WRITE_FAILED',
  });
  expect(world.agent.received).toEqual(['one']);
  expect((await world.runtime.history(sessionId)).entries.at(-1)).toMatchObject({
    content: 'first answer',
    status: 'complete',
  });
  disk.store = 'free';
  await reader.untilTurn('turn_started', 2);
  world.agent.text(sessionId, 'b', 'second answer');
  world.agent.finish(sessionId);
  await reader.untilTurn('turn_complete', 2);
  await reader.until((r) => stateOf(r) === 'idle');
  expect(world.agent.received).toEqual(['one', 'two']);
  expect(await world.storage.log.unsettled()).toEqual([]);
  const { items } = await world.storage.store.readItems(sessionId, { limit: 10 });
  expect(items.map(({ item }) => item)).toMatchObject([
    { content: 'one' },
    { content: 'first answer' },
    { content: 'two' },
    { content: 'second answer' },
  ]);
});

test('a message that cannot be stored is rejected with its code, leaves nothing behind and can be sent again', async () => {
  const reader = await start();
  const before = await world.runtime.info(sessionId);
  disk.store = 'full';
  await expect(world.runtime.send(sessionId, 'Hello')).rejects.toMatchObject({
    code: 'STORE_WRITE_FAILED',
  });
  expect(world.agent.received).toEqual([]);
  expect(await world.runtime.info(sessionId)).toEqual(before);
  disk.store = 'free';
  await world.runtime.send(sessionId, 'Hello again');
  await reader.untilTurn('turn_started');
  expect(world.agent.received).toEqual(['Hello again']);
});

test('if a delivered message cannot be removed from the queue, it is not reported as rejected, and is not delivered twice', async () => {
  const reader = await start();
  const gate = Promise.withResolvers<void>();
  world.agent.hold = gate.promise;
  const sending = world.runtime.send(sessionId, 'Hello');
  await reader.until((r) => r.ofType('session:info').at(-1)?.info.queue[0]?.state === 'sending');
  disk.store = 'full';
  gate.resolve();
  expect(await sending).toMatchObject({ queued: false });
  expect((await world.runtime.info(sessionId)).queue).toEqual([]);
  await reader.untilTurn('turn_started');
  await world.medium.crash();
  disk.store = 'free';
  const after = await world.restart();
  const { queue, session } = await after.runtime.info(sessionId);
  expect(queue).toEqual([]);
  expect(session.state).toBe('failed');
  expect((await after.runtime.history(sessionId)).entries).toMatchObject([{ content: 'Hello' }]);
});

test('if storage errors block a queued message, one error is reported, and the message is sent once the store works', async () => {
  const reader = await start();
  await world.runtime.send(sessionId, 'one');
  await world.runtime.send(sessionId, 'two');
  const { store } = world.storage;
  const { saveSession } = store;
  let refusals = 2;
  vi.spyOn(store, 'saveSession').mockImplementation(async (record) => {
    const isSending = record.queue.some(({ state }) => state === 'sending');
    if (!isSending || refusals === 0) return saveSession.call(store, record);
    refusals -= 1;
    throw new StorageError('STORE_WRITE_FAILED', 'The database is away.');
  });
  world.agent.finish(sessionId);
  await expect.poll(() => world.agent.received, { timeout: 10_000 }).toEqual(['one', 'two']);
  expect(refusals).toBe(0);
  const told = reader.ofType('session:error').map(({ message }) => message);
  expect(told).toEqual(['A queued message could not be sent: The database is away.']);
});

test('INV-8 an agent is ended even if the store rejects writes, and queued messages do not restart it', async () => {
  const reader = await start();
  await world.runtime.send(sessionId, 'one');
  await world.runtime.send(sessionId, 'two');
  disk.store = 'full';
  await expect(world.runtime.kill(sessionId)).rejects.toMatchObject({ code: 'STORE_WRITE_FAILED' });
  await reader.untilTurn('turn_complete');
  disk.store = 'free';
  await reader.until((r) => stateOf(r) === 'queued');
  // Lets later work run.
  await new Promise(setImmediate);
  expect([world.agent.received, world.agent.isAlive(sessionId)]).toEqual([['one'], false]);
});

testAtLength(
  'a server that closes while the log rejects events does not wait, logs the loss, and the next server marks the turn',
  async () => {
    const reader = await start();
    await world.runtime.send(sessionId, 'Hello');
    world.agent.text(sessionId, 'a', 'kept');
    await reader.until((r) => r.items.has('a'));
    disk.log = 'full';
    world.agent.emit(sessionId, { type: 'item_delta', itemId: 'a', deltaContent: ' and lost' });
    await reader.untilType('session:error');
    const begun = performance.now();
    await world.runtime.close();
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(world.warnings.join('\n')).toMatch(/\d+ events \(\d+ characters\) of turn \S+ are lost/);
    disk.log = 'free';
    const after = await world.restart();
    const page = await after.runtime.history(sessionId);
    expect(page.entries.at(-1)).toMatchObject({ content: 'kept', status: 'error' });
    expect(page.turns).toMatchObject([{ status: 'error', error: { code: 'OWNER_LOST' } }]);
  },
);

test('a server that closes while the store rejects writes leaves a finished turn to the next server, which stores it', async () => {
  const reader = await start();
  await world.runtime.send(sessionId, 'Hello');
  disk.store = 'full';
  world.agent.text(sessionId, 'a', 'answer');
  world.agent.finish(sessionId);
  await reader.untilTurn('turn_complete');
  await world.runtime.close();
  disk.store = 'free';
  const after = await world.restart();
  const page = await after.runtime.history(sessionId);
  expect(page.entries.at(-1)).toMatchObject({ content: 'answer', status: 'complete' });
  expect(page.turns).toMatchObject([{ status: 'complete' }]);
});

test('a rejected change has no effect: to a title, a queued message or a removed message', async () => {
  const reader = await start();
  await world.runtime.rename(sessionId, 'Before');
  await world.runtime.send(sessionId, 'Hello');
  const { turnId: first } = await world.runtime.send(sessionId, 'One');
  const { turnId: second } = await world.runtime.send(sessionId, 'Two');
  disk.store = 'full';
  const refused = { code: 'STORE_WRITE_FAILED' };
  await expect(world.runtime.rename(sessionId, 'After')).rejects.toMatchObject(refused);
  await expect(world.runtime.editQueued(sessionId, first, 'Uno')).rejects.toMatchObject(refused);
  await expect(world.runtime.removeQueued(sessionId, first)).rejects.toMatchObject(refused);
  await expect(world.runtime.send(sessionId, 'Three')).rejects.toMatchObject(refused);
  const info = () => reader.ofType('session:info').at(-1)?.info;
  await expect.poll(info).toMatchObject({
    session: { title: 'Before' },
    queue: [
      { turnId: first, message: 'One' },
      { turnId: second, message: 'Two' },
    ],
  });
  disk.store = 'free';
  world.agent.finish(sessionId);
  await expect.poll(() => world.agent.received).toEqual(['Hello', 'One']);
});
