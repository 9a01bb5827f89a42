import fc from 'fast-check';
import { expect, it } from 'vitest';
import { around, covers, fitting, follow, nextSpan, type RowRange } from './row-range.ts';

const count = fc.integer({ min: 1, max: 2_000 });
/** The length of a list, and a range of indexes in it. */
const listAndPart = count.chain((length) =>
  fc
    .tuple(fc.nat(length - 1), fc.integer({ min: 1, max: 40 }))
    .map(([from, rows]) => ({ length, seen: { from, to: Math.min(length, from + rows) } })),
);

const tall = (index: number) => (index % 10 === 0 ? 500 : 100);

/** Draws step by step until all wanted rows are drawn. */
function draw(
  start: RowRange,
  seen: RowRange,
  length: number,
  step: number,
  room = Infinity,
): RowRange[] {
  const steps = [start];
  for (let now = start, round = 0; round < 3_000; round += 1) {
    const next = fitting(now, nextSpan(now, seen, length, step), tall, room);
    if (next.from === now.from && next.to === now.to) return steps;
    steps.push(next);
    now = next;
  }
  throw new Error('The steps do not end.');
}

it('from any start, all visible and near rows are drawn in the end', () => {
  fc.assert(
    fc.property(
      listAndPart,
      fc.nat(),
      fc.integer({ min: 1, max: 24 }),
      fc.integer({ min: 1, max: 3_000 }),
      ({ length, seen }, at, step, room) => {
        const from = at % length;
        const steps = draw({ from, to: Math.min(length, from + 10) }, seen, length, step, room);
        const last = steps.at(-1) as RowRange;
        expect(covers(last, around(seen, length))).toBe(true);
        expect(last.to - last.from).toBeLessThanOrEqual(Math.min(length, 200 + 2 * 24));
      },
    ),
  );
});

it('no step draws more rows than the limit of a step', () => {
  fc.assert(
    fc.property(listAndPart, fc.integer({ min: 1, max: 24 }), ({ length, seen }, step) => {
      const steps = draw({ from: 0, to: Math.min(length, 5) }, seen, length, step);
      for (const [index, next] of steps.entries()) {
        const before = steps[index - 1];
        if (before === undefined) continue;
        const shared = Math.max(0, Math.min(before.to, next.to) - Math.max(before.from, next.from));
        expect(next.to - next.from - shared).toBeLessThanOrEqual(step);
      }
    }),
  );
});

it('a conversation of at most 200 rows is drawn completely', () => {
  expect(around({ from: 190, to: 200 }, 200)).toEqual({ from: 0, to: 200 });
  expect(around({ from: 0, to: 10 }, 200)).toEqual({ from: 0, to: 200 });
});

const rows = (...keys: string[]) => keys.map((key) => ({ key }));

it('the drawn rows stay the same when older rows are added above them', () => {
  const before = rows('c', 'd', 'e', 'f');
  const now = rows('a', 'b', 'c', 'd', 'e', 'f');
  expect(follow({ from: 1, to: 3 }, before, now, 5)).toEqual({ from: 3, to: 5 });
});

it('rows that are added below the end are also drawn, but not all rows of a flood', () => {
  const before = rows('a', 'b');
  expect(follow({ from: 0, to: 2 }, before, rows('a', 'b', 'c'), 5)).toEqual({ from: 0, to: 3 });
  const flood = [...before, ...Array.from({ length: 50 }, (_, n) => ({ key: `n${n}` }))];
  expect(follow({ from: 0, to: 2 }, before, flood, 5)).toEqual({ from: 0, to: 7 });
  expect(follow({ from: 0, to: 1 }, before, rows('a', 'b', 'c'), 5)).toEqual({ from: 0, to: 1 });
});

it('if the drawn rows no longer exist, drawing starts again at the end', () => {
  expect(follow({ from: 0, to: 2 }, rows('a', 'b'), rows('x', 'y', 'z'), 2)).toEqual({
    from: 1,
    to: 3,
  });
});

it.each<[string, RowRange, RowRange, number, RowRange]>([
  [
    'the rows that fit, above first',
    { from: 20, to: 30 },
    { from: 15, to: 35 },
    250,
    { from: 18, to: 30 },
  ],
  [
    'no more rows than wanted',
    { from: 20, to: 30 },
    { from: 19, to: 31 },
    900,
    { from: 19, to: 31 },
  ],
  ['one row, however tall', { from: 21, to: 30 }, { from: 15, to: 30 }, 50, { from: 20, to: 30 }],
  [
    'nothing if there is no room',
    { from: 21, to: 30 },
    { from: 15, to: 32 },
    0,
    { from: 21, to: 30 },
  ],
  [
    'the first rows of a range that does not touch the drawn rows',
    { from: 0, to: 9 },
    { from: 31, to: 50 },
    300,
    { from: 31, to: 34 },
  ],
  [
    'fewer rows than before, at once',
    { from: 0, to: 90 },
    { from: 40, to: 95 },
    500,
    { from: 40, to: 91 },
  ],
])('a frame draws %s', (_, drawn, next, room, then) => {
  expect(fitting(drawn, next, tall, room)).toEqual(then);
});
