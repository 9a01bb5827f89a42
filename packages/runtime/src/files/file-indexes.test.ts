import { expect, test } from 'vitest';
import { FileIndexes } from './file-indexes.ts';

/** Indexes with a clock that the test sets. A scan advances the clock only if it is given a duration. */
function start() {
  const clock = { now: 0, scans: 0 };
  const indexes = new FileIndexes(() => clock.now);
  const ask = (folder: string, took = 0) =>
    indexes.of(folder, async () => {
      clock.scans += 1;
      await Promise.resolve();
      clock.now += took;
      return { files: [`${clock.scans}.ts`], changed: [], isWhole: true };
    });
  return { clock, ask };
}

test('a hundred quick key presses start only one scan', async () => {
  const { clock, ask } = start();
  const found = await Promise.all(Array.from({ length: 100 }, () => ask('/code')));
  expect(found.every((index) => index.find('1', 1)[0] === '1.ts')).toBe(true);
  expect(clock.scans).toBe(1);
});

test('a list is reused for some seconds, or longer if its scan took long', async () => {
  const { clock, ask } = start();
  await ask('/code');
  clock.now = 4_999;
  await ask('/code');
  expect(clock.scans).toBe(1);
  clock.now = 5_000;
  await ask('/code', 4_000);
  expect(clock.scans).toBe(2);
  clock.now = 5_000 + 4_000 + 19_999;
  await ask('/code');
  expect(clock.scans).toBe(2);
  clock.now += 1;
  expect((await ask('/code')).find('3', 1)).toEqual(['3.ts']);
});

test('a failed scan rejects for all its callers, and the next caller starts a new scan', async () => {
  const indexes = new FileIndexes(() => 0);
  const failing = indexes.of('/code', () => Promise.reject(new Error('no')));
  await expect(failing).rejects.toThrow('no');
  const listing = { files: ['a'], changed: [], isWhole: true };
  expect((await indexes.of('/code', async () => listing)).find('a', 1)).toEqual(['a']);
});

test('only the few most recently requested folders are kept', async () => {
  const { clock, ask } = start();
  for (const folder of ['/a', '/b', '/c', '/d', '/a', '/e']) await ask(folder);
  expect(clock.scans).toBe(5);
  await ask('/a');
  expect(clock.scans).toBe(5);
  await ask('/b');
  expect(clock.scans).toBe(6);
});
