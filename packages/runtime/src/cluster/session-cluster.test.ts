import type { Response } from '@liminal/protocol';
import { openSharedMemoryStorage } from '@liminal/storage/memory';
import { expect, test, vi } from 'vitest';
import type { Session } from '../session/index.ts';
import { Ownership } from './ownership.ts';
import { RemoteSubscribers } from './posted-state.ts';
import { SessionCluster } from './session-cluster.ts';
import { SessionStates } from './session-states.ts';
import { SettledRuns } from './settled-runs.ts';

const hourMs = 60 * 60_000;

function openCluster() {
  let now = 0;
  const storage = openSharedMemoryStorage(() => now);
  const { store, blobs } = storage;
  const { board, leases } = storage.coordination;
  const troubles: unknown[] = [];
  const onTrouble = (error: unknown) => void troubles.push(error);
  const silent = { onLost: () => {}, onTrouble };
  const ownership = new Ownership({ leases, store, instanceId: 'a', ttlMs: 60_000, ...silent });
  const settled = new SettledRuns(storage);
  const sessionStates = new SessionStates({ board, store, blobs, ownership });
  const cluster = new SessionCluster({
    board,
    leases,
    ownership,
    sessionStates,
    settled,
    onTrouble,
  });
  const advance = (ms: number) => void (now += ms);
  return { cluster, board, leases, ownership, settled, sessionStates, troubles, advance };
}

test('only the first server counts the end of a run; this is remembered for an hour', async () => {
  const { cluster, advance } = openCluster();
  expect(await cluster.claimEndCount('run')).toBe(true);
  expect(await cluster.claimEndCount('run')).toBe(false);
  expect(await cluster.claimEndCount('other')).toBe(true);
  advance(hourMs - 1);
  expect(await cluster.claimEndCount('run')).toBe(false);
  advance(1);
  expect(await cluster.claimEndCount('run')).toBe(true);
});

test('no server counts the end of a run while leases cannot show whether another server counts it', async () => {
  const { cluster, leases, troubles } = openCluster();
  const error = new Error('Redis is away.');
  vi.spyOn(leases, 'acquire').mockRejectedValueOnce(error);
  expect(await cluster.claimEndCount('run')).toBe(false);
  expect(troubles).toEqual([error]);
});

test('a run’s end in history is posted; if posting fails, the failure is only reported', async () => {
  const { cluster, board, troubles } = openCluster();
  await cluster.notifyEndInHistory({ runId: 'run', sessionId: 'one' });
  expect(await board.read(['settled:run'])).toEqual(new Map([['settled:run', 'one']]));
  const error = new Error('Redis is away.');
  vi.spyOn(board, 'post').mockRejectedValueOnce(error);
  await cluster.notifyEndInHistory({ runId: 'run', sessionId: 'one' });
  expect(troubles).toEqual([error]);
});

test('a session has the fence of its lease while this server owns it', async () => {
  const { cluster, leases, ownership } = openCluster();
  await leases.acquire('session:one', 'b', -1);
  expect(cluster.fenceOf('one')).toBeUndefined();
  expect(await cluster.owns('one')).toBe(false);
  expect(await cluster.holds('one')).toBe(false);
  await ownership.take('one');
  expect(cluster.fenceOf('one')).toBe(2);
  expect(await cluster.owns('one')).toBe(true);
  expect(await cluster.holds('one')).toBe(true);
  await ownership.close();
});

test('`owns` renews the lease, and `holds` relies on a recent renewal', async () => {
  const { cluster, leases, ownership } = openCluster();
  await ownership.take('one');
  const renew = vi.spyOn(leases, 'renew').mockResolvedValue(false);
  expect(await cluster.holds('one')).toBe(true);
  expect(renew).not.toHaveBeenCalled();
  expect(await cluster.owns('one')).toBe(false);
  await ownership.close();
});

test('a session’s changes are posted under its fence', async () => {
  const { cluster, board, ownership } = openCluster();
  await ownership.take('one');
  const info = () => ({ session: { sessionId: 'one' } });
  const readers = cluster.subscribersOf({ sessionId: 'one', turnId: 'run', info } as Session);
  expect(readers).toBeInstanceOf(RemoteSubscribers);
  readers.infoChanged();
  const posted = (await board.read(['session:one'])).get('session:one');
  expect(JSON.parse(posted ?? '')).toEqual({ info: info(), fence: 1, runId: 'run' });
  readers.close();
  await ownership.close();
});

test('waiting for a run is left to SettledRuns, and summaries of sessions to SessionStates', async () => {
  const { cluster, settled, sessionStates } = openCluster();
  const wait = vi.spyOn(settled, 'wait').mockResolvedValue();
  const { signal } = new AbortController();
  const run = { id: 'run' } as Response;
  await cluster.project(run, signal);
  expect(wait).toHaveBeenCalledWith(run, signal);
  const found = new Map();
  const summaries = vi.spyOn(sessionStates, 'summaries').mockResolvedValue(found);
  expect(await cluster.summaries(['one'])).toBe(found);
  expect(summaries).toHaveBeenCalledWith(['one']);
});
