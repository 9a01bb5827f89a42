import type { TurnView } from '@liminal/client';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { Heights } from './heights.ts';
import type { TurnRow } from './turn-rows.ts';

const turn: TurnView = { turnId: 't', status: 'complete', items: [] };
const row = (key: string): TurnRow => ({ key, turn });
const keys = fc.integer({ min: 0, max: 30 }).map(String);

/** One change: a row is measured, the list of rows changes, or a row is replaced by a new object. */
type Step = { measured: [string, number] } | { rows: string[] } | { again: string };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ measured: fc.tuple(keys, fc.integer({ min: 1, max: 500 })) }),
    fc.record({ rows: fc.uniqueArray(keys, { maxLength: 20 }) }),
    fc.record({ again: keys }),
  ),
);

it('the top of each row is always the sum of the heights of all rows before it', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const heights = new Heights();
      let rows: TurnRow[] = [];
      for (const step of all) {
        if ('measured' in step) heights.measure(...step.measured);
        else if ('rows' in step) {
          const known = new Map(rows.map((one) => [one.key, one]));
          rows = step.rows.map((key) => known.get(key) ?? row(key));
        } else rows = rows.map((one) => (one.key === step.again ? row(one.key) : one));
        let top = 0;
        const expected = [0, ...rows.map((one) => (top += heights.of(one)))];
        expect([...heights.tops(rows)]).toEqual(expected);
      }
    }),
  );
});

it('if only the last rows change, the tops of earlier rows are not computed again', () => {
  const heights = new Heights();
  const rows = Array.from({ length: 1_000 }, (_, n) => row(String(n)));
  heights.tops(rows);
  const looks = vi.spyOn(heights, 'of');
  heights.measure('998', 70);
  expect(heights.tops(rows)[1_000]).toBe(999 * 42 + 70);
  heights.tops([...rows, row('new')]);
  heights.tops([...rows.slice(0, 999), row('999')]);
  expect(looks.mock.calls.length).toBeLessThan(10);
});
