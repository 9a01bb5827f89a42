import { expect, test } from 'vitest';
import { authSentence, describeRpcError } from './errors.ts';

const internal = { code: -32_603, message: 'Internal error' };

test.each([
  ['only a message', internal, 'Internal error'],
  ['no message', { ...internal, message: '' }, 'The agent gave no reason, only the code -32603.'],
  ['only a detail', { ...internal, message: '', data: { details: 'No disk.' } }, 'No disk.'],
  ['a sentence', { ...internal, data: 'No disk.' }, 'Internal error: No disk.'],
  [
    'an object with a message',
    { ...internal, data: { message: 'No disk.', n: 1 } },
    'Internal error: No disk.',
  ],
  [
    'a model’s answer',
    { ...internal, data: { message: '{"error":{"type":"x","message":"Too long."}}' } },
    'Internal error: Too long.',
  ],
  ['broken JSON', { ...internal, data: { message: '{"error":' } }, 'Internal error: {"error":'],
  ['something else', { ...internal, data: { n: 1 } }, 'Internal error: {"n":1}'],
  [
    'another code',
    { code: -32_602, message: 'Invalid params', data: 'No such mode' },
    'Invalid params: No such mode',
  ],
])('an error with %s is described in words', (_what, error, described) => {
  expect(describeRpcError(error)).toBe(described);
});

test('the advice to try again appears once, even if the agent’s error has the same advice', () => {
  const message = 'Run “agent login”, then try again.';
  expect(authSentence('Agent', [], { code: -32_000, message })).toBe(
    `Agent wants you to sign in first. It says: ${message}`,
  );
  expect(authSentence('Agent', [], { code: -32_000, message: 'Run “agent login”' })).toBe(
    'Agent wants you to sign in first. It says: Run “agent login”. Then try again.',
  );
});
