import { expect, test } from 'vitest';
import { LiminalError, thrownMessage } from './errors.ts';

test('an error has its code, message and cause, and the name of its class', () => {
  class OwnError extends LiminalError {}
  const cause = new Error('before');
  const error = new OwnError('CODE', 'A sentence.', { cause });
  expect(error).toMatchObject({ code: 'CODE', message: 'A sentence.', name: 'OwnError', cause });
});

test.each([
  [new Error('A sentence.'), 'A sentence.'],
  ['words', 'words'],
  [7, '7'],
  [undefined, 'undefined'],
])('the message of %s, thrown, is %s', (thrown, message) => {
  expect(thrownMessage(thrown)).toBe(message);
});
