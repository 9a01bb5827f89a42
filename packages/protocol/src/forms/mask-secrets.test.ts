import { expect, test } from 'vitest';
import { maskedAnswer, maskSecrets } from './mask-secrets.ts';

const form = {
  properties: {
    user: { type: 'string' },
    key: { type: 'string', format: 'password' },
    pin: { type: 'string', writeOnly: true },
  },
};

test('SAFE: answers to secret fields are masked, and other answers are not changed', () => {
  const content = { user: 'ada', key: 'sk-1', pin: '1234', constructor: 'x' };
  const outcome = { outcome: 'selected', optionId: 'accept', content } as const;
  expect(maskSecrets(form, outcome)).toEqual({
    ...outcome,
    content: { user: 'ada', key: maskedAnswer, pin: maskedAnswer, constructor: 'x' },
  });
});

test('an outcome without answers does not change', () => {
  const cancelled = { outcome: 'cancelled' } as const;
  expect(maskSecrets(form, cancelled)).toBe(cancelled);
  const plain = { outcome: 'selected', optionId: 'a', content: { key: 'b' } } as const;
  expect(maskSecrets(undefined, plain)).toBe(plain);
});
