import type { Lease } from '@liminal/storage';
import { openSharedMemoryStorage } from '@liminal/storage/memory';
import { beforeEach, expect, test, vi } from 'vitest';
import type { SessionRuntime } from '../runtime.ts';
import type { Session } from '../session/index.ts';
import { OwnedSessions } from './owned-sessions.ts';
import { Ownership } from './ownership.ts';
import { useFakeDelays } from './testing/fake-delays.ts';
import { sessionRecord } from './testing/session-record.ts';

beforeEach(useFakeDelays);

const { sessionId } = sessionRecord;
/** The time between two checks for idle sessions, in ms. */
const sweepMs = 1_000;

/** A session in a server's memory, as the owner of sessions sees it. */
interface FakeSession {
  sessionId: string;
  isInUse: boolean;
  isIdle: boolean;
}

function openOwned() {
  const storage = openSharedMemoryStorage();
  const { leases } = storage.coordination;
  const ownership = new Ownership({
    leases,
    store: storage.store,
    instanceId: 'a',
    ttlMs: 60_000,
    onLost: () => {},
    onTrouble: () => {},
  });
  const inMemory: FakeSession[] = [];
  const steps: string[] = [];
  const troubles: unknown[] = [];
  /** The errors with which the next calls reject. */
  const faults: { inMemory?: Error; takeSession?: Error } = {};
  /** Recoveries wait for this promise. */
  const recovering: { held?: Promise<void> } = {};
  const load = (isInUse: boolean, isIdle = !isInUse, id = sessionId): FakeSession => {
    const session = {
      sessionId: id,
      isInUse,
      isIdle,
      loseTurn: () => void steps.push(`loseTurn ${id}`),
      shutDown: async () => void steps.push(`shutDown ${id}`),
    };
    inMemory.push(session);
    return session;
  };
  const sessions = {
    inMemory: async () => {
      const { inMemory: error } = faults;
      delete faults.inMemory;
      if (error) throw error;
      return inMemory as unknown as Session[];
    },
    release: async (session: Session) => {
      steps.push(`letGo ${session.sessionId}`);
      inMemory.splice(inMemory.indexOf(session), 1);
    },
  };
  const takeSession = async (id: string, fence: number) => {
    const { takeSession: error } = faults;
    delete faults.takeSession;
    await recovering.held;
    if (error) throw error;
    steps.push(`recover ${id}`);
    return storage.store.takeSession(id, fence);
  };
  const store = new Proxy(storage.store, {
    get: (target, name) =>
      name === 'takeSession' ? takeSession : Reflect.get(target, name).bind(target),
  });
  const owned = new OwnedSessions({
    storage: { log: storage.log, store },
    ownership,
    runtime: { sessions } as unknown as SessionRuntime,
    now: () => '2026-01-01T00:00:00.000Z',
    onTrouble: (error) => troubles.push(error),
  });
  return { owned, ownership, leases, store, load, steps, troubles, faults, recovering };
}

test('a session without an owner is taken and recovered once, before the first step', async () => {
  const { owned, ownership, store, steps } = openOwned();
  await store.saveSession(sessionRecord);
  const step = async ({ token }: Lease) => {
    steps.push('step');
    return token;
  };
  expect(await owned.act(sessionId, step)).toEqual({ value: 1 });
  expect(await owned.act(sessionId, step)).toEqual({ value: 1 });
  expect(steps).toEqual([`recover ${sessionId}`, 'step', 'step']);
  expect(await ownership.ownerOf(sessionId)).toBe('a');
  expect(await store.getSession(sessionId)).toMatchObject({ fence: 1 });
});

test('simultaneous commands take the session only once', async () => {
  const { owned, steps } = openOwned();
  const acts = [1, 2, 3].map(async (value) => owned.act(sessionId, async () => value));
  expect(await Promise.all(acts)).toEqual([{ value: 1 }, { value: 2 }, { value: 3 }]);
  expect(steps).toEqual([`recover ${sessionId}`]);
});

test('a session that another server owns is not recovered, and steps for the session do not run', async () => {
  const { owned, leases, steps } = openOwned();
  await leases.acquire(`session:${sessionId}`, 'b', 60_000);
  const step = async () => void steps.push('step');
  expect(await owned.act(sessionId, step)).toBeUndefined();
  expect(await owned.actAsOwner(sessionId, step)).toBeUndefined();
  expect(steps).toEqual([]);
});

test('if a session cannot be recovered, it is released, and the next command tries again', async () => {
  const { owned, leases, faults } = openOwned();
  faults.takeSession = new Error('The database is away.');
  const first = owned.act(sessionId, async () => 1);
  // The second command waits for the first command, which fails.
  const second = owned.act(sessionId, async () => 2);
  await expect(first).rejects.toThrow('The database is away.');
  expect(await second).toEqual({ value: 2 });
  expect(await leases.acquire(`session:${sessionId}`, 'a', 60_000)).toMatchObject({ token: 2 });
});

test('actAsOwner takes no session, and runs a step in a session that this server owns', async () => {
  const { owned, ownership } = openOwned();
  expect(await owned.actAsOwner(sessionId, async () => 1)).toBeUndefined();
  expect(ownership.owned).toEqual([]);
  await ownership.take(sessionId);
  expect(await owned.actAsOwner(sessionId, async () => 1)).toEqual({ value: 1 });
});

test.each([
  ['is recovered', undefined, { value: 2 }],
  ['could not be recovered', new Error('The database is away.'), undefined],
])('actAsOwner waits until the session %s', async (_, error, result) => {
  const { owned, faults, recovering } = openOwned();
  if (error) faults.takeSession = error;
  const { promise, resolve } = Promise.withResolvers<void>();
  recovering.held = promise;
  const act = owned.act(sessionId, async () => 1).catch(() => undefined);
  await vi.advanceTimersByTimeAsync(0);
  const steps: string[] = [];
  const acting = owned.actAsOwner(sessionId, async () => steps.push('step') + 1);
  await vi.advanceTimersByTimeAsync(0);
  expect(steps).toEqual([]);
  resolve();
  expect(await acting).toEqual(result);
  await act;
});

test('INV-8: when a session is lost, its turn and its agent end, and the session is removed from memory', async () => {
  const { owned, load, steps } = openOwned();
  load(true, false, 'two');
  load(true);
  await owned.lost(sessionId);
  expect(steps).toEqual([`loseTurn ${sessionId}`, `shutDown ${sessionId}`, `letGo ${sessionId}`]);
  await owned.lost('three');
  expect(steps).toHaveLength(3);
});

test('an unused session is released at the next check, and its agent is ended', async () => {
  const { ownership, load, steps } = openOwned();
  await ownership.take(sessionId);
  await ownership.take('two');
  load(false);
  const used = load(true, false, 'two');
  await vi.advanceTimersByTimeAsync(sweepMs - 1);
  expect(ownership.owned).toEqual([sessionId, 'two']);
  await vi.advanceTimersByTimeAsync(1);
  expect(ownership.owned).toEqual(['two']);
  expect(steps).toEqual([`shutDown ${sessionId}`, `letGo ${sessionId}`]);
  expect(await ownership.ownerOf(sessionId)).toBeUndefined();
  used.isInUse = false;
  await vi.advanceTimersByTimeAsync(sweepMs);
  expect(ownership.owned).toEqual([]);
});

test('an owned session that is not in memory is released', async () => {
  const { ownership } = openOwned();
  await ownership.take(sessionId);
  await vi.advanceTimersByTimeAsync(sweepMs);
  expect(ownership.owned).toEqual([]);
});

test('a session is not released during a command, even if the command fails later', async () => {
  const { owned, ownership } = openOwned();
  const long = Promise.withResolvers<void>();
  const failing = owned.act(sessionId, async () => long.promise);
  await owned.act(sessionId, async () => 'short');
  await vi.advanceTimersByTimeAsync(3 * sweepMs);
  expect(ownership.owned).toEqual([sessionId]);
  long.reject(new Error('It failed.'));
  await expect(failing).rejects.toThrow('It failed.');
  await vi.advanceTimersByTimeAsync(sweepMs);
  expect(ownership.owned).toEqual([]);
});

test('a session that comes into use during the check for idle sessions is not released', async () => {
  const { owned, ownership, load } = openOwned();
  await ownership.take(sessionId);
  const session = load(false);
  await vi.advanceTimersByTimeAsync(sweepMs - 1);
  // A running change of the same session delays the release.
  const change = owned.lost('none').then(() => owned.releaseIdle(sessionId));
  session.isIdle = false;
  session.isInUse = true;
  expect(await change).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(ownership.owned).toEqual([sessionId]);
});

test('a failed check for idle sessions is reported, and the next check happens', async () => {
  const { ownership, faults, troubles } = openOwned();
  await ownership.take(sessionId);
  const error = new Error('Memory is away.');
  faults.inMemory = error;
  await vi.advanceTimersByTimeAsync(sweepMs);
  expect(troubles).toEqual([error]);
  expect(ownership.owned).toEqual([sessionId]);
  await vi.advanceTimersByTimeAsync(sweepMs);
  expect(ownership.owned).toEqual([]);
});

test('closing ends the looks', async () => {
  const { owned, ownership } = openOwned();
  await ownership.take(sessionId);
  await owned.close();
  await vi.advanceTimersByTimeAsync(3 * sweepMs);
  expect(ownership.owned).toEqual([sessionId]);
});

test('releaseIdle releases a session without a turn even if clients use it, and does not release a session with a turn', async () => {
  const { owned, ownership, load, steps } = openOwned();
  await ownership.take(sessionId);
  const session = load(true, false);
  expect(await owned.releaseIdle(sessionId)).toBe(false);
  expect(ownership.owned).toEqual([sessionId]);
  expect(steps).toEqual([]);
  session.isIdle = true;
  expect(await owned.releaseIdle(sessionId)).toBe(true);
  expect(ownership.owned).toEqual([]);
  expect(steps).toEqual([`shutDown ${sessionId}`, `letGo ${sessionId}`]);
});

test('releaseIdle does not release a session during a command', async () => {
  const { owned, ownership } = openOwned();
  const long = Promise.withResolvers<void>();
  const act = owned.act(sessionId, async () => long.promise);
  await vi.advanceTimersByTimeAsync(0);
  expect(await owned.releaseIdle(sessionId)).toBe(false);
  long.resolve();
  await act;
  expect(await owned.releaseIdle(sessionId)).toBe(true);
  expect(ownership.owned).toEqual([]);
});
