import { expect, test } from 'vitest';
import { timeOfSeconds, UsageLimits } from './usage-limits.ts';

test('if an agent reports limits one by one, all limits are returned together, once for each change', () => {
  const limits = new UsageLimits();
  const hours = { name: '5-hour limit', usedPercent: 10 };
  const week = { name: 'weekly limit', usedPercent: 3 };
  expect(limits.applyUpdate([hours])).toEqual([hours]);
  expect(limits.applyUpdate([week])).toEqual([hours, week]);
  expect(limits.applyUpdate([hours, week])).toBeUndefined();
  expect(limits.applyUpdate([{ ...hours, usedPercent: 11 }])).toEqual([
    { ...hours, usedPercent: 11 },
    week,
  ]);
  expect(limits.applyUpdate([])).toBeUndefined();
});

test('SAFE: an impossible time is undefined', () => {
  expect(timeOfSeconds(1_795_400_447)).toBe('2026-11-23T02:20:47.000Z');
  expect(timeOfSeconds(8_640_000_000_001)).toBeUndefined();
});
