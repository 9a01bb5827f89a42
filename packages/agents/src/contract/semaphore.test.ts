import { expect, test } from 'vitest';
import { Semaphore } from './semaphore.ts';

/** Begins `count` starts at once; each lasts until it is released. */
function startMany(limit: Semaphore, count: number) {
  const running: number[] = [];
  const gates = Array.from({ length: count }, () => Promise.withResolvers<void>());
  const all = gates.map((gate, index) =>
    limit.run(async () => {
      running.push(index);
      await gate.promise;
      return index;
    }),
  );
  const letGo = async (index: number): Promise<void> => {
    gates[index]?.resolve();
    await all[index];
    await Promise.resolve();
  };
  return {
    running,
    all,
    letGo,
    fail: (index: number) => gates[index]?.reject(new Error('failed')),
  };
}

test('no more starts than the limit run at once, and the other starts follow in order', async () => {
  const { running, all, letGo } = startMany(new Semaphore(2), 4);
  expect(running).toEqual([0, 1]);
  await letGo(1);
  expect(running).toEqual([0, 1, 2]);
  await letGo(0);
  expect(running).toEqual([0, 1, 2, 3]);
  await Promise.all([letGo(2), letGo(3)]);
  expect(await Promise.all(all)).toEqual([0, 1, 2, 3]);
});

test('a failed start frees its slot', async () => {
  const { running, all, letGo, fail } = startMany(new Semaphore(1), 2);
  fail(0);
  await expect(all[0]).rejects.toThrow('failed');
  await letGo(1);
  expect(running).toEqual([0, 1]);
});

test('a start that is aborted while it waits rejects at once, and the next start gets its slot', async () => {
  const limit = new Semaphore(1);
  const { running, letGo } = startMany(limit, 1);
  const abort = new AbortController();
  const ran: string[] = [];
  const start = (name: string) => async () => void ran.push(name);
  const givenUp = limit.run(start('given up'), abort.signal);
  const next = limit.run(start('next'));
  abort.abort(new Error('No longer wanted.'));
  await expect(givenUp).rejects.toThrow('No longer wanted.');
  await letGo(0);
  await next;
  expect([running, ran]).toEqual([[0], ['next']]);
});
