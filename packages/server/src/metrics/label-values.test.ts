import { expect, test } from 'vitest';
import { LabelValues } from './label-values.ts';

test('the number and the length of a label’s values are limited; values beyond the limit become `other`', () => {
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
