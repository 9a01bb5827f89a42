import { expect, test } from 'vitest';
import { errorTable, LiminalError, thrownMessage } from './errors.ts';

test('an error has its code, message and cause, and the name of its class', () => {
  class OwnError extends LiminalError {}
  const cause = new Error('before');
  const error = new OwnError('CODE', 'A sentence.', { cause });
  expect(error).toMatchObject({ code: 'CODE', message: 'A sentence.', name: 'OwnError', cause });
});

const errors = errorTable(
  {
    GONE: {
      deleted: (id: string) => `${id} has been deleted.`,
      moved: (id: string, to: string) => `${id} has moved to ${to}.`,
    },
    FULL: { queue: () => 'The queue is full.' },
  },
  LiminalError,
);

test('an error of a table has the code of its row, and its parts in the message', () => {
  expect(errors.GONE.moved('A', 'B')).toMatchObject({ code: 'GONE', message: 'A has moved to B.' });
  expect(errors.FULL.queue()).toMatchObject({ code: 'FULL', message: 'The queue is full.' });
});

test('an error of a table takes its cause after the parts of the message', () => {
  const cause = new Error('before');
  expect(errors.GONE.deleted('A', { cause }).cause).toBe(cause);
  expect(errors.FULL.queue({ cause }).cause).toBe(cause);
  expect('cause' in errors.FULL.queue()).toBe(false);
});

test('the stack of an error of a table begins where the error was created', () => {
  const [head, first] = errors.FULL.queue().stack?.split('\n') ?? [];
  expect(head).toBe('LiminalError: The queue is full.');
  expect(first).toContain('errors.test.ts');
});

test('a row with an optional part cannot be used', () => {
  const table = { FULL: { queue: (why = 'It is full.') => why } };
  // @ts-expect-error -- The options would be taken for the part.
  const make = (): LiminalError => errorTable(table, LiminalError).FULL.queue('It is full.');
  expect(make).toBeTypeOf('function');
});

test.each([
  [new Error('A sentence.'), 'A sentence.'],
  ['words', 'words'],
  [7, '7'],
  [undefined, 'undefined'],
])('the message of %s, thrown, is %s', (thrown, message) => {
  expect(thrownMessage(thrown)).toBe(message);
});
