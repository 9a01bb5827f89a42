import { runOf } from '@liminal/protocol/testing';
import { openMemoryStorage } from '@liminal/storage/memory';
import { expect, test, vi } from 'vitest';
import { lookShare, LostSessions } from './lost-sessions.ts';
import { type Ownership, ttlShare } from './ownership.ts';
import { useFakeDelays } from './testing/fake-delays.ts';

/**
 * Runs the checks of one open turn. For each check, the argument contains whether the session has an owner, or an
 * error; the last entry repeats.
 */
async function lookedAt(looks: readonly (boolean | Error)[], troubles: unknown[] = []) {
  const { log } = openMemoryStorage();
  const run = runOf([{ type: 'response_start', modelId: 'm', providerId: 'p' }]);
  await log.append('run-1', run);
  let count = 0;
  const looked = Promise.withResolvers<void>();
  const recovered: number[] = [];
  const leasesOf: Ownership['leasesOf'] = async ([sessionId = '']) => {
    const isOwned = looks[count] ?? looks.at(-1) ?? false;
    count += 1;
    if (count === looks.length + 1) looked.resolve();
    if (isOwned instanceof Error) throw isOwned;
    return new Map(isOwned ? [[sessionId, { holder: 'a', token: 1 }]] : []) as never;
  };
  const lost = new LostSessions({
    log,
    ownership: { leasesOf } as Ownership,
    everyMs: 1,
    recover: async () => void recovered.push(count),
    onTrouble: (error) => troubles.push(error),
  });
  await looked.promise;
  await lost.close();
  return recovered;
}

test('a session whose owner regains its lease after a Redis outage keeps its turn', async () => {
  expect(await lookedAt([true, false, false, true, false, false, true])).toEqual([]);
});

test('if a check fails, the error is reported, and the count of checks without an owner starts from 0 again', async () => {
  const troubles: unknown[] = [];
  const error = new Error('Redis is away.');
  expect(await lookedAt([false, false, error, false, false, true], troubles)).toEqual([]);
  expect(troubles).toEqual([error]);
});

test('a session that has no owner at three checks in a row is lost', async () => {
  expect((await lookedAt([true, false, false, false]))[0]).toBe(4);
});

test('an expiring lease and three checks take less than three quarters of the time within which a dead server’s turns must end', () => {
  expect(ttlShare + 3 * lookShare).toBeLessThan(0.75);
});

/** Starts LostSessions, which looks every second for sessions that have a running turn and no owner. */
async function lookEverySecond() {
  useFakeDelays();
  const { log } = openMemoryStorage();
  const asked: string[][] = [];
  const recovered: string[] = [];
  const leasesOf: Ownership['leasesOf'] = async (sessionIds) => {
    asked.push([...sessionIds]);
    return new Map();
  };
  const lost = new LostSessions({
    log,
    ownership: { leasesOf } as Ownership,
    everyMs: 1_000,
    recover: async (sessionId) => void recovered.push(sessionId),
    onTrouble: (error) => expect.fail(String(error)),
  });
  await vi.advanceTimersByTimeAsync(0);
  return { lost, log, asked, recovered };
}

test('a session whose turns have all ended is not checked, and a session with two open turns is checked once', async () => {
  const { lost, log, asked, recovered } = await lookEverySecond();
  const start = { type: 'response_start', modelId: 'm', providerId: 'p' } as const;
  const end = { type: 'response_done', status: 'completed' } as const;
  const open = (runId: string) => ({ runId, turnId: runId, sessionId: 'open' });
  await log.append('1', runOf([start], open('1')));
  await log.append('2', runOf([start], open('2')));
  await log.append('3', runOf([start, end], { runId: '3', turnId: '3', sessionId: 'ended' }));
  await vi.advanceTimersByTimeAsync(3_000);
  expect(asked).toEqual([[], ['open'], ['open'], ['open']]);
  expect(recovered).toEqual(['open']);
  await lost.close();
});

test('closing ends the checks at once', async () => {
  const { lost, asked } = await lookEverySecond();
  expect(asked).toHaveLength(1);
  let isClosed = false;
  void lost.close().then(() => (isClosed = true));
  await vi.advanceTimersByTimeAsync(0);
  expect(isClosed).toBe(true);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked).toHaveLength(1);
});
