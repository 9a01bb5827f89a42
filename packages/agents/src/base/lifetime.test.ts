import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { Lifetime } from './lifetime.ts';

const gone = new Error('It has ended.');
const never = new Promise<never>(() => {});

test('before the end, `within` passes on the result or error of the work', async () => {
  const life = new Lifetime();
  await expect(life.within(Promise.resolve(1))).resolves.toBe(1);
  await expect(life.within(Promise.reject(new Error('No.')))).rejects.toThrow('No.');
});

test('pending and later work rejects with the first reason of the end', async () => {
  const life = new Lifetime();
  const before = life.within(never);
  life.end(gone);
  life.end(new Error('Again.'));
  await expect(before).rejects.toBe(gone);
  await expect(life.within(Promise.resolve(1))).rejects.toBe(gone);
  await expect(life.within(Promise.reject(new Error('Too late.')))).rejects.toBe(gone);
});

test('work that takes too long or is aborted rejects with that reason, and its later result is ignored', async () => {
  const life = new Lifetime();
  const { promise: late, reject: fail } = Promise.withResolvers<never>();
  const tooLong = 'It took too long.';
  await expect(life.withinLimit(late, 1, { tooLong })).rejects.toThrow(tooLong);
  fail(new Error('After that.'));
  const given = AbortSignal.abort(new Error('Given up.'));
  await expect(life.withinLimit(never, 1e6, { tooLong, signal: given })).rejects.toThrow(
    'Given up.',
  );
  const giving = new AbortController();
  const work = life.withinLimit(never, 1e6, { tooLong, signal: giving.signal });
  giving.abort(new Error('Given up later.'));
  await expect(work).rejects.toThrow('Given up later.');
});

test('results do not stay in memory until the end', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const life = new Lifetime();
  const results: WeakRef<object>[] = [];
  const work = async (): Promise<object> => {
    const result = {};
    results.push(new WeakRef(result));
    return result;
  };
  await life.within(work());
  await life.withinLimit(work(), 1e6, { tooLong: 'It took too long.' });
  // A WeakRef keeps its target alive until the end of the task that created it.
  await new Promise(setImmediate);
  collect();
  expect(results.map((one) => one.deref())).toEqual([undefined, undefined]);
  life.end(gone);
});
