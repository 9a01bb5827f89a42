import { expect, test } from 'vitest';
import { shownChange } from './shown-change.ts';

const lines = (count: number): string[] => Array.from({ length: count }, (_, at) => `line ${at}\n`);

test('a change is shown with three lines before and after it', () => {
  const before = lines(20);
  const after = before.with(10, 'new\n');
  expect(shownChange('/p/a', before.join(''), after.join(''))).toEqual({
    path: '/p/a',
    oldText: before.slice(7, 14).join(''),
    newText: after.slice(7, 14).join(''),
    oldLine: 8,
    newLine: 8,
  });
});

test.each([
  ['at the beginning', 'a\nb\n', 'x\na\nb\n'],
  ['at the end', 'a\nb\n', 'a\nb\nx'],
  ['of a repeated line', 'a\na\na\n', 'a\na\n'],
  ['that empties a file', 'a\n', ''],
  ['that fills a file', '', 'a\n'],
])('a change %s of a small file is shown with the whole file', (_where, before, after) => {
  expect(shownChange('/p/a', before, after)).toEqual({
    path: '/p/a',
    oldText: before,
    newText: after,
    oldLine: 1,
    newLine: 1,
  });
});

test('the change that creates a file has no old text', () => {
  expect(shownChange('/p/a', undefined, 'x')).toEqual({ path: '/p/a', newText: 'x' });
});
