import { expect, test } from 'vitest';
import { StartLimit } from './start-limit.ts';

/** Starts `count` at once; each goes on until it is let go. */
function startMany(limit: StartLimit, count: number) {
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

test('no more than the limit run at once, and the others follow in order', async () => {
  const { running, all, letGo } = startMany(new StartLimit(2), 4);
  expect(running).toEqual([0, 1]);
  await letGo(1);
  expect(running).toEqual([0, 1, 2]);
  await letGo(0);
  expect(running).toEqual([0, 1, 2, 3]);
  await Promise.all([letGo(2), letGo(3)]);
  expect(await Promise.all(all)).toEqual([0, 1, 2, 3]);
});

test('one that fails makes room too', async () => {
  const { running, all, letGo, fail } = startMany(new StartLimit(1), 2);
  fail(0);
  await expect(all[0]).rejects.toThrow('failed');
  await letGo(1);
  expect(running).toEqual([0, 1]);
});
