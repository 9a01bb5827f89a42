import { expect, test } from 'vitest';
import { decodeCursor, encodeCursor } from './cursor.ts';

test.each([
  { runId: 'run', seq: 0 },
  { runId: 'a:1:b', seq: 999_999_999_999_999 },
])('a cursor tells the place that it was made of: %j', (position) => {
  expect(decodeCursor(encodeCursor(position))).toEqual(position);
});

test.each([
  '',
  'run',
  'run:',
  ':1',
  'run:1a',
  'run:-1',
  'run:1\n',
  '\nrun:1',
  'run:1234567890123456',
])('what is none tells nothing: %j', (text) => {
  expect(decodeCursor(text)).toBeUndefined();
});
