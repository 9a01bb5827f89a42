import { expect, test } from 'vitest';
import { withRetries } from './with-retries.ts';

const failing = (times: number) => {
  let attempt = 0;
  return async () => {
    attempt += 1;
    if (attempt <= times) throw new Error(`attempt ${attempt}`);
    return attempt;
  };
};

test('a step is repeated until it succeeds, each time after the failure is handled', async () => {
  const failures: unknown[] = [];
  const result = await withRetries(failing(2), async (error, attempts) => {
    failures.push([String(error), attempts]);
  });
  expect(result).toBe(3);
  expect(failures).toEqual([
    ['Error: attempt 1', 1],
    ['Error: attempt 2', 2],
  ]);
});

test('an error of the handler ends the attempts', async () => {
  const giveUp = withRetries(failing(5), async (_, attempts) => {
    if (attempts === 3) throw new Error('given up');
  });
  await expect(giveUp).rejects.toThrow('given up');
});
