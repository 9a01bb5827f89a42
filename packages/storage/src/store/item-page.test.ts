import { expect, test } from 'vitest';
import { fittingBatches, fittingCount, pageOfItems } from './item-page.ts';

/** Runs, newest first, whose items are numbers; an item's size is its number. Records which items are read. */
function runsOf(...runs: number[][]) {
  const read: string[] = [];
  const all = runs.map((sizes, at) => ({
    head: () => at,
    count: sizes.length,
    items: (from: number, to: number) => {
      read.push(`${at}:${from}-${to}`);
      return sizes.slice(from, to);
    },
    sizes: (from: number, to: number) => sizes.slice(from, to).toReversed(),
  }));
  return { all, read };
}

test.each([
  [100, [[10, 20], [30]], { items: [30, 10, 20], heads: [1, 0], hasMore: false }],
  [30, [[10, 20], [30]], { items: [10, 20], heads: [0], hasMore: true }],
  [25, [[10, 20], [30]], { items: [20], heads: [0], hasMore: true }],
  [5, [[10, 20], [30]], { items: [20], heads: [0], hasMore: true }],
  [
    65,
    [
      [10, 20],
      [30, 30],
    ],
    { items: [30, 10, 20], heads: [1, 0], hasMore: true },
  ],
  [35, [[10, 20], [], [30]], { items: [10, 20], heads: [0], hasMore: true }],
])(
  'SAFE: a page of %i bytes contains the items that fit, and at least one item',
  (size, runs, page) => {
    expect(pageOfItems(runsOf(...runs).all, { limit: 10, size })).toEqual(page);
  },
);

test('SAFE: only items on the page are read', () => {
  const { all, read } = runsOf([10, 90, 20], [50]);
  pageOfItems(all, { limit: 10, size: 40 });
  expect(read).toEqual(['0:2-3']);
});

test('the first of many sizes always fits', () => {
  expect(fittingCount([50, 10], 20)).toBe(1);
  expect(fittingCount([5, 10, 10], 20)).toBe(2);
  expect(fittingCount([], 20)).toBe(0);
});

test('SAFE: batches contain all elements in order, and each batch contains as many elements as fit by number and size', () => {
  const batches = (size: number, count?: number) => [
    ...fittingBatches([1, 2, 9, 1, 1, 1], (each) => each, { size, ...(count && { count }) }),
  ];
  expect(batches(3)).toEqual([[1, 2], [9], [1, 1, 1]]);
  expect(batches(3, 2)).toEqual([[1, 2], [9], [1, 1], [1]]);
  expect(batches(100)).toEqual([[1, 2, 9, 1, 1, 1]]);
  expect([...fittingBatches([], () => 1, { size: 1 })]).toEqual([]);
});
