import { setImmediate } from 'node:timers/promises';
import type { Lease, Leases, ResponseStore } from '@liminal/storage';
import { openSharedMemoryStorage } from '@liminal/storage/memory';
import { beforeEach, expect, test, vi } from 'vitest';
import { Ownership } from './ownership.ts';
import { sessionRecord } from './testing/session-record.ts';
import { useFakeDelays } from './testing/fake-delays.ts';

beforeEach(useFakeDelays);

const leaseTtlMs = 1_000;
/** The time between two renewals of a lease, in ms. */
const renewMs = 200;

/** Two servers on the same leases. The second server can only take sessions. */
function openOwnership() {
  const { coordination, store } = openSharedMemoryStorage();
  const { leases } = coordination;
  const calls = { renew: 0, getSession: 0 };
  /** Functions that replace the first server's next calls. */
  const faults: {
    renew?: (lease: Lease) => Promise<boolean>;
    getSession?: ResponseStore['getSession'];
  } = {};
  const troubles: unknown[] = [];
  const lost: string[] = [];
  const ends: (number | undefined)[] = [];
  const renew: Leases['renew'] = async (lease, ttlMs) => {
    calls.renew += 1;
    return faults.renew ? faults.renew(lease) : leases.renew(lease, ttlMs);
  };
  const getSession: ResponseStore['getSession'] = async (sessionId) => {
    calls.getSession += 1;
    return faults.getSession ? faults.getSession(sessionId) : store.getSession(sessionId);
  };
  const started = Date.now();
  const own = new Ownership({
    leases: {
      acquire: async (...args) => leases.acquire(...args),
      holders: async (names) => leases.holders(names),
      release: async (lease) => leases.release(lease),
      renew,
    },
    store: { getSession, findDeleted: async (ids) => store.findDeleted(ids) },
    instanceId: 'a',
    ttlMs: leaseTtlMs,
    onLost: (sessionId) => lost.push(sessionId),
    onTrouble: (error) => troubles.push(error),
    endAgentsAt: (atMs) => ends.push(atMs === undefined ? undefined : atMs - started),
  });
  const takeByOther = async (sessionId: string) =>
    leases.acquire(`session:${sessionId}`, 'b', leaseTtlMs);
  return { own, store, leases, calls, faults, troubles, lost, ends, takeByOther };
}

/** Every call to Redis fails from now on. */
const away = async (): Promise<never> => {
  throw new Error('Redis is away.');
};

/** Waits until all reports of the current tick are sent. */
const reported = async (): Promise<void> => setImmediate();

test('a session that is taken has a lease named after it, and one owner', async () => {
  const { own, takeByOther } = openOwnership();
  const lease = await own.take('one');
  expect(lease).toEqual({ name: 'session:one', holder: 'a', token: 1 });
  expect(own.leaseOf('one')).toEqual(lease);
  expect(own.leaseOf('two')).toBeUndefined();
  expect(await own.ownerOf('one')).toBe('a');
  expect(await own.ownerOf('two')).toBeUndefined();
  expect(await takeByOther('one')).toBeUndefined();
});

test('a session that another server owns cannot be taken', async () => {
  const { own, takeByOther } = openOwnership();
  await takeByOther('one');
  expect(await own.take('one')).toBeUndefined();
  expect(own.owned).toEqual([]);
  expect(await own.ownerOf('one')).toBe('b');
});

test('leases are listed by session, without the sessions that have no owner', async () => {
  const { own, takeByOther } = openOwnership();
  await own.take('one');
  await takeByOther('two');
  const leases = await own.leasesOf(['two', 'none', 'one']);
  expect([...leases].map(([sessionId, { holder }]) => [sessionId, holder])).toEqual([
    ['two', 'b'],
    ['one', 'a'],
  ]);
});

test('a lease is renewed five times in its lifetime, until the session is released', async () => {
  const { own, calls, takeByOther } = openOwnership();
  await own.take('one');
  await vi.advanceTimersByTimeAsync(10 * leaseTtlMs);
  expect(calls.renew).toBe(50);
  expect(await takeByOther('one')).toBeUndefined();
  await own.release('one');
  expect(own.owned).toEqual([]);
  expect(await takeByOther('one')).toMatchObject({ holder: 'b', token: 2 });
  await vi.advanceTimersByTimeAsync(leaseTtlMs);
  expect(calls.renew).toBe(50);
});

test('releasing a session of another server does not release that server’s lease', async () => {
  const { own, takeByOther } = openOwnership();
  await takeByOther('one');
  await own.release('one');
  expect(await own.ownerOf('one')).toBe('b');
});

test('a session that another server has taken is reported as lost, once', async () => {
  const { own, lost, faults, leases, takeByOther, troubles } = openOwnership();
  await own.take('one');
  await own.take('two');
  faults.renew = async (lease) => lease.name !== 'session:one' && leases.renew(lease, leaseTtlMs);
  await vi.advanceTimersByTimeAsync(renewMs);
  expect(lost).toEqual(['one']);
  expect(own.owned).toEqual(['two']);
  await vi.advanceTimersByTimeAsync(leaseTtlMs);
  expect(lost).toEqual(['one']);
  expect(troubles).toEqual([]);
  expect(await takeByOther('two')).toBeUndefined();
});

test('a session that was released and taken again during a renewal is not lost', async () => {
  const { own, lost, faults } = openOwnership();
  await own.take('one');
  const answer = Promise.withResolvers<boolean>();
  faults.renew = async () => answer.promise;
  await vi.advanceTimersByTimeAsync(renewMs);
  await own.release('one');
  const lease = await own.take('one');
  answer.resolve(false);
  await vi.advanceTimersByTimeAsync(0);
  expect(lost).toEqual([]);
  expect(own.leaseOf('one')).toBe(lease);
});

test('`confirm` renews the lease, and returns false for a session that this server does not own', async () => {
  const { own, calls, faults } = openOwnership();
  await own.take('one');
  expect(await own.confirm('one')).toBe(true);
  expect(await own.confirm('two')).toBe(false);
  expect(calls.renew).toBe(1);
  faults.renew = async () => false;
  expect(await own.confirm('one')).toBe(false);
});

test('`holds` asks Redis for the lease only when nine tenths of its lifetime have passed since the last renewal', async () => {
  const { own, calls, faults } = openOwnership();
  await own.take('one');
  faults.renew = away;
  await vi.advanceTimersByTimeAsync(leaseTtlMs * 0.9 - 1);
  const before = calls.renew;
  expect(await own.holds('one')).toBe(true);
  expect(calls.renew).toBe(before);
  await vi.advanceTimersByTimeAsync(1);
  await expect(own.holds('one')).rejects.toThrow('Redis is away.');
  faults.renew = async () => false;
  expect(await own.holds('one')).toBe(false);
});

test('the lifetime of a lease begins when its renewal is sent, not when the answer arrives', async () => {
  const { own, faults } = openOwnership();
  await own.take('one');
  const answer = Promise.withResolvers<boolean>();
  faults.renew = async () => answer.promise;
  await vi.advanceTimersByTimeAsync(renewMs + 500);
  answer.resolve(true);
  await vi.advanceTimersByTimeAsync(0);
  faults.renew = away;
  await vi.advanceTimersByTimeAsync(399);
  expect(await own.holds('one')).toBe(true);
  await vi.advanceTimersByTimeAsync(1);
  await expect(own.holds('one')).rejects.toThrow('Redis is away.');
});

test('`holds` returns false for a session that this server does not own', async () => {
  const { own } = openOwnership();
  expect(await own.holds('one')).toBe(false);
});

test('INV-8: the server’s agents end when its oldest lease is no longer certain; if the server has no leases, no such time is set', async () => {
  const { own, ends, faults } = openOwnership();
  await own.take('one');
  await vi.advanceTimersByTimeAsync(50);
  await own.take('two');
  await reported();
  expect(ends).toEqual([900]);
  await vi.advanceTimersByTimeAsync(renewMs - 50);
  await reported();
  expect(ends).toEqual([900, 900 + renewMs]);
  faults.renew = async ({ name }) => name !== 'session:one';
  await vi.advanceTimersByTimeAsync(renewMs);
  await reported();
  expect(ends).toEqual([900, 1_100, 1_300]);
  await own.release('two');
  await reported();
  expect(ends).toEqual([900, 1_100, 1_300, undefined]);
  await own.release('two');
  await reported();
  expect(ends).toHaveLength(4);
});

test('INV-8: while leases cannot be renewed, agents continue as long as the store has no other owner', async () => {
  const { own, ends, store, faults, troubles, lost } = openOwnership();
  await store.saveSession(sessionRecord);
  const { sessionId } = sessionRecord;
  const lease = await own.take(sessionId);
  faults.renew = away;
  await vi.advanceTimersByTimeAsync(renewMs);
  await reported();
  expect(ends).toEqual([900, renewMs + 900]);
  expect(troubles).toEqual([new Error('Redis is away.')]);
  // The store contains this server's own token, which does not mean that there is a later owner.
  await store.takeSession(sessionId, lease?.token ?? 0);
  await vi.advanceTimersByTimeAsync(10 * leaseTtlMs);
  expect(lost).toEqual([]);
  await store.takeSession(sessionId, 2);
  await vi.advanceTimersByTimeAsync(renewMs);
  expect(lost).toEqual([sessionId]);
  await reported();
  expect(ends.at(-1)).toBeUndefined();
});

test('while leases cannot be renewed, a deleted session is lost, and a session that is not stored yet is kept', async () => {
  const { own, store, faults, lost } = openOwnership();
  await store.saveSession(sessionRecord);
  await store.deleteSession(sessionRecord.sessionId);
  await own.take(sessionRecord.sessionId);
  await own.take('new');
  faults.renew = away;
  await vi.advanceTimersByTimeAsync(renewMs);
  expect(lost).toEqual([sessionRecord.sessionId]);
  expect(own.owned).toEqual(['new']);
});

test('INV-8: if neither leases nor store can be reached, the time at which agents end stays as it was', async () => {
  const { own, ends, faults, troubles } = openOwnership();
  await own.take('one');
  await reported();
  faults.renew = away;
  const error = new Error('The database is away.');
  faults.getSession = async () => {
    throw error;
  };
  await vi.advanceTimersByTimeAsync(renewMs);
  await reported();
  expect(ends).toEqual([900]);
  expect(troubles).toEqual([new Error('Redis is away.'), error]);
});

test('a renewal that hangs is not sent again; the store is asked instead, with one request at a time', async () => {
  const { own, calls, faults, lost, ends } = openOwnership();
  await own.take('one');
  const renewed = Promise.withResolvers<boolean>();
  faults.renew = async () => renewed.promise;
  const asked = Promise.withResolvers<undefined>();
  faults.getSession = async () => asked.promise;
  await vi.advanceTimersByTimeAsync(4 * renewMs);
  expect(calls).toEqual({ renew: 1, getSession: 1 });
  asked.resolve(undefined);
  delete faults.getSession;
  await vi.advanceTimersByTimeAsync(renewMs);
  expect(calls).toEqual({ renew: 1, getSession: 2 });
  await reported();
  expect(ends).toEqual([900, 5 * renewMs + 900]);
  renewed.resolve(true);
  delete faults.renew;
  await vi.advanceTimersByTimeAsync(renewMs);
  expect(calls).toEqual({ renew: 2, getSession: 2 });
  expect(lost).toEqual([]);
});

test('closing waits for running renewals and releases all sessions; after that, nothing is renewed', async () => {
  const { own, calls, faults, takeByOther } = openOwnership();
  await own.take('one');
  await own.take('two');
  const renewed = Promise.withResolvers<boolean>();
  faults.renew = async () => renewed.promise;
  await vi.advanceTimersByTimeAsync(renewMs);
  let isClosed = false;
  const closing = own.close().then(() => void (isClosed = true));
  await vi.advanceTimersByTimeAsync(0);
  expect(isClosed).toBe(false);
  expect(own.owned).toEqual(['one', 'two']);
  renewed.resolve(true);
  await closing;
  expect(own.owned).toEqual([]);
  expect(await takeByOther('one')).toBeDefined();
  await vi.advanceTimersByTimeAsync(leaseTtlMs);
  expect(calls.renew).toBe(2);
});

test('a closed server does not report the error of a store request that was still running', async () => {
  const { own, faults, troubles } = openOwnership();
  await own.take('one');
  faults.renew = away;
  const asked = Promise.withResolvers<undefined>();
  faults.getSession = async () => asked.promise;
  await vi.advanceTimersByTimeAsync(renewMs);
  await own.close();
  asked.reject(new Error('The database is closed.'));
  await vi.advanceTimersByTimeAsync(0);
  expect(troubles).toEqual([new Error('Redis is away.')]);
});

test('closing releases the other sessions even if one cannot be released', async () => {
  const { coordination, store } = openSharedMemoryStorage();
  const { leases } = coordination;
  const own = new Ownership({
    leases: {
      acquire: async (...args) => leases.acquire(...args),
      holders: async (names) => leases.holders(names),
      renew: async (...args) => leases.renew(...args),
      release: async (lease) => (lease.name === 'session:one' ? away() : leases.release(lease)),
    },
    store,
    instanceId: 'a',
    ttlMs: leaseTtlMs,
    onLost: () => {},
    onTrouble: () => {},
  });
  await own.take('one');
  await own.take('two');
  await own.close();
  expect(await own.ownerOf('one')).toBe('a');
  expect(await own.ownerOf('two')).toBeUndefined();
});
