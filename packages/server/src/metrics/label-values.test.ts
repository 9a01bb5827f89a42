import { expect, test } from 'vitest';
import { LabelValues } from './label-values.ts';

test('a label has a bounded number of bounded values, and then `other`', () => {
  const values = new LabelValues(2);
  expect(['a', '', 'b', 'a', ''].map((value) => values.bound(value))).toEqual([
    'a',
    'unknown',
    'other',
    'a',
    'unknown',
  ]);
  expect(new LabelValues(1).bound('x'.repeat(10_000))).toHaveLength(100);
});
