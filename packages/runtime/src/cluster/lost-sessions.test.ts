import { runOf } from '@liminal/protocol/testing';
import { openMemoryStorage } from '@liminal/storage/memory';
import { expect, test } from 'vitest';
import { LOOK_SHARE, LostSessions } from './lost-sessions.ts';
import { type Ownership, TTL_SHARE } from './ownership.ts';

/**
 * What happens to an open turn, given at each look whether its session has an owner, or an error; the last entry
 * repeats.
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

test('a look that fails is reported, and the count of looks starts again', async () => {
  const troubles: unknown[] = [];
  const error = new Error('Redis is away.');
  expect(await lookedAt([false, false, error, false, false, true], troubles)).toEqual([]);
  expect(troubles).toEqual([error]);
});

test('a session without an owner at three looks in a row is lost', async () => {
  expect((await lookedAt([true, false, false, false]))[0]).toBe(4);
});

test('an expiring lease and three looks take three quarters of the time within which a dead server’s turns must end', () => {
  expect(TTL_SHARE + 3 * LOOK_SHARE).toBeLessThan(0.75);
});
