import { expect, test } from 'vitest';
import { readLimits } from './limits.ts';

const snapshot = (rateLimits: object) => ({ rateLimits });

test('each usage window has its used percentage and reset time', () => {
  expect(
    readLimits(
      snapshot({
        limitId: 'codex',
        limitName: null,
        primary: { usedPercent: 42.5, windowDurationMins: 299, resetsAt: 1_795_400_447 },
        secondary: { usedPercent: 7, windowDurationMins: 10_080, resetsAt: null },
      }),
    ),
  ).toEqual([
    { name: '5-hour limit', usedPercent: 42.5, resetsAt: '2026-11-23T02:20:47.000Z' },
    { name: 'weekly limit', usedPercent: 7 },
  ]);
});

test.each([
  [{ usedPercent: 1, windowDurationMins: 15 }, '15-minute limit'],
  [{ usedPercent: 1, windowDurationMins: 1_440 }, '24-hour limit'],
  [{ usedPercent: 1, windowDurationMins: 43_200 }, '30-day limit'],
  [{ usedPercent: 1 }, 'usage limit'],
])('the window %j is called %s', (primary, name) => {
  expect(readLimits(snapshot({ primary }))).toEqual([{ name, usedPercent: 1 }]);
});

test('the name of a model’s limit contains the model', () => {
  expect(
    readLimits(
      snapshot({ limitName: 'GPT-5', primary: { usedPercent: 1, windowDurationMins: 300 } }),
    ),
  ).toEqual([{ name: '5-hour limit for GPT-5', usedPercent: 1 }]);
});

test.each([
  ['the full window', 100, 40, ['5-hour limit']],
  ['both, if both are full', 101, 100, ['5-hour limit', 'weekly limit']],
  ['the fullest, as Codex rounds', 12, 99, ['weekly limit']],
])('the usage limit that counts as reached is %s', (_which, used, usedOfWeek, reached) => {
  const windows = {
    primary: { usedPercent: used, windowDurationMins: 300 },
    secondary: { usedPercent: usedOfWeek, windowDurationMins: 10_080 },
  };
  const reachedIn = (why: unknown) =>
    readLimits(snapshot({ ...windows, rateLimitReachedType: why })).flatMap((limit) =>
      limit.isReached === true ? limit.name : [],
    );
  expect(reachedIn('rate_limit_reached')).toEqual(reached);
  expect(reachedIn('workspace_member_usage_limit_reached')).toEqual(reached);
  // With credits, Codex may still be used after a window is full.
  expect(reachedIn(null)).toEqual([]);
});

test.each([
  [undefined],
  [{}],
  [snapshot({ primary: null, secondary: null })],
  [snapshot({ rateLimitReachedType: 'workspace_owner_credits_depleted' })],
  [snapshot({ primary: { usedPercent: 'much' } })],
])('SAFE: %j contains no usage window', (told) => {
  expect(readLimits(told)).toEqual([]);
});
