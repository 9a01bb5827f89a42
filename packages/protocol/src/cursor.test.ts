import { expect, test } from 'vitest';
import { decodeCursor, encodeCursor } from './cursor.ts';

test.each([
  { runId: 'run', seq: 0 },
  { runId: 'a:1:b', seq: 999_999_999_999_999 },
])('a decoded cursor is the encoded position: %j', (position) => {
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
])('an invalid cursor is decoded as undefined: %j', (text) => {
  expect(decodeCursor(text)).toBeUndefined();
});
