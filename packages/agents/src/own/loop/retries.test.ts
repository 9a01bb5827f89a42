import { expect, test } from 'vitest';
import { ModelError } from './model-error.ts';
import { waitAfter } from './retries.ts';

const settings = { attempts: 3, firstMs: 1_000, maxMs: 60_000 };
const failed = (retryAfterMs?: number, isPassing = true) =>
  new ModelError('RATE_LIMIT', 'The model is busy.', {
    isPassing,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });

test.each([
  [0, 0],
  [5, 5],
  [60_000, 60_000],
  [60_001, undefined],
  [3_600_000, undefined],
])('if a server asks for a delay of %d ms, the next attempt is made after %s', (wanted, wait) => {
  expect(waitAfter(failed(wanted), 1, settings)).toBe(wait);
});

test.each([
  [1, 0, 750],
  [1, 1, 1_250],
  [2, 0.5, 2_000],
])(
  'if the server asks for no delay, the delay after attempt %d doubles, with a random spread (%d)',
  (attempt, random, wait) => {
    expect(waitAfter(failed(), attempt, settings, () => random)).toBe(wait);
  },
);

test('no delay is longer than the limit', () => {
  const long = { ...settings, attempts: 100 };
  expect(waitAfter(failed(), 50, long, () => 0.5)).toBe(60_000);
});

test('errors that are not temporary, the last attempt’s error, and Liminal’s own errors are not retried', () => {
  expect(waitAfter(failed(5, false), 1, settings)).toBeUndefined();
  expect(waitAfter(failed(5), 2, settings)).toBe(5);
  expect(waitAfter(failed(5), 3, settings)).toBeUndefined();
  expect(waitAfter(new Error('A mistake of ours.'), 1, settings)).toBeUndefined();
});
