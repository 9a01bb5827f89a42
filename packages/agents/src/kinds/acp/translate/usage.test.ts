import { expect, test } from 'vitest';
import { readUsageUpdate, TurnUsage } from './usage.ts';

test.each([
  [{}, {}],
  [
    { used: 0, size: 10 },
    { contextTokens: 0, contextWindow: 10 },
  ],
  [
    { used: 5, cost: { amount: 0.5, currency: 'USD' } },
    { contextTokens: 5, costUsd: 0.5 },
  ],
])('%j gives only its counts', (update, counts) => {
  expect(readUsageUpdate({ sessionUpdate: 'usage_update', ...update })).toEqual({
    usage: { inputTokens: 0, outputTokens: 0, ...counts },
    rest: undefined,
  });
});

test('a value that is not a count, or in another currency, is kept unchanged', () => {
  const odd = { used: -1, size: 'big', cost: { amount: 1, currency: 'EUR' } };
  expect(readUsageUpdate({ sessionUpdate: 'usage_update', ...odd })).toEqual({
    usage: { inputTokens: 0, outputTokens: 0 },
    rest: odd,
  });
});

test.each([
  [{}, { inputTokens: 0, outputTokens: 0 }],
  [
    { inputTokens: 1, outputTokens: null },
    { inputTokens: 1, outputTokens: 0 },
  ],
  [{ cachedReadTokens: 2 }, { inputTokens: 0, outputTokens: 0, cacheReadInputTokens: 2 }],
  [
    { outputTokens: 3, cachedReadTokens: null, cachedWriteTokens: 0 },
    { inputTokens: 0, outputTokens: 3, cacheCreationInputTokens: 0 },
  ],
])('the token counts %j of a turn give the usage %j', (turn, usage) => {
  expect(TurnUsage.parse(turn)).toEqual(usage);
});
