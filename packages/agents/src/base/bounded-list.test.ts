import { expect, test } from 'vitest';
import { BoundedList } from './bounded-list.ts';

const big = (size: number, name: string) => ({ name, text: 'x'.repeat(size) });
const names = (values: unknown[]) =>
  values.map((value) => (value as { name?: string }).name ?? value);

test('the first `take` returns the kept values, and a second `take` returns none', () => {
  const list = new BoundedList();
  for (const value of [1, 'two', { three: [3] }, null]) list.add(value);
  expect(list.take()).toEqual([1, 'two', { three: [3] }, null]);
  expect(list.take()).toEqual([]);
});

test('beyond the limit, the last or the first values are counted and left out', () => {
  const [last, first] = [
    new BoundedList({ values: 2 }),
    new BoundedList({ values: 2, omits: 'first' }),
  ];
  for (const value of ['a', 'b', 'c', 'd']) {
    last.add(value);
    first.add(value);
  }
  expect(last.take()).toEqual(['a', 'b', { omitted: 2 }]);
  expect(first.take()).toEqual(['c', 'd', { omitted: 2 }]);
});

test('large values are counted and left out, and smaller values still fit', () => {
  const [last, first] = [new BoundedList(), new BoundedList({ omits: 'first' })];
  for (const list of [last, first]) {
    list.add(big(3_000_000, 'a'));
    list.add(big(3_000_000, 'b'));
    list.add(big(30_000_000, 'c'));
    list.add(big(1_000, 'd'));
  }
  expect(names(last.take())).toEqual(['a', 'd', { omitted: 2 }]);
  expect(names(first.take())).toEqual(['b', 'd', { omitted: 2 }]);
});

test('small parts of one value count towards its size', () => {
  const list = new BoundedList();
  list.add(Array.from({ length: 600_000 }, (_, index) => index));
  list.add({ after: true });
  expect(list.take()).toEqual([{ after: true }, { omitted: 1 }]);
});
