import fc from 'fast-check';
import { expect, it } from 'vitest';
import { backoff } from './backoff.ts';

it('the first retry begins within a quarter of a second', () => {
  expect(backoff(0, 0.999)).toBeLessThanOrEqual(250);
});

it('the waits between retries grow, vary by half of their length, and are never longer than ten seconds', () => {
  const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.nat(2000), chance, (attempt, random) => {
      const wait = backoff(attempt, random);
      expect(wait).toBeGreaterThanOrEqual(Math.min(10_000, 250 * 2 ** attempt) / 2);
      expect(wait).toBeLessThanOrEqual(10_000);
    }),
  );
});
