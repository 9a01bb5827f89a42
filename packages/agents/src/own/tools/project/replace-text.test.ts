import { describe, expect, test } from 'vitest';
import { ToolError } from '../tool-error.ts';
import { replaceText } from './replace-text.ts';

const edit = (text: string, oldText: string, newText: string, replaceAll = false) =>
  replaceText(text, { path: 'a.txt', oldText, newText, replaceAll });

const problem = (...of: Parameters<typeof edit>): string => {
  try {
    edit(...of);
  } catch (error) {
    if (error instanceof ToolError) return error.message;
    throw error;
  }
  return 'none';
};

test('one text is replaced, and its line is returned', () => {
  expect(edit('one\ntwo\nthree\n', 'two', '2')).toEqual({ text: 'one\n2\nthree\n', lines: [2] });
});

test('replacement patterns (`$&`) in the new text have no special meaning', () => {
  expect(edit('a.b', '.', '$& $1 $$').text).toBe('a$& $1 $$b');
});

test('on request, all occurrences are replaced, and the line of each is returned', () => {
  expect(edit('x\ny\nx x\n', 'x', 'z', true)).toEqual({ text: 'z\ny\nz z\n', lines: [1, 3, 3] });
  expect(edit('a\nb\n-\na\nb\n', 'a\nb', 'c', true).lines).toEqual([1, 4]);
});

test('if the text occurs several times, nothing is replaced, and the lines are named', () => {
  expect(problem('x\ny\nx\n', 'x', 'z')).toContain('occurs 2 times in “a.txt”, in the lines 1, 3.');
  expect(problem('x\n'.repeat(50), 'x', 'z')).toContain(
    'in the lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …',
  );
});

describe('line ends', () => {
  test('of a file with CR LF are also used in the new text', () => {
    expect(edit('one\r\ntwo\r\n', 'one\ntwo', '1\n2\n3').text).toBe('1\r\n2\r\n3\r\n');
    expect(edit('one\r\ntwo\r\n', 'one\r\ntwo', '1\r\n2').text).toBe('1\r\n2\r\n');
  });

  test('of both kinds in one file must match exactly', () => {
    expect(problem('one\r\ntwo\nthree\n', 'one\ntwo', 'x')).toContain('other line ends');
    expect(edit('one\r\ntwo\nthree\n', 'two\nthree', 'x\ny').text).toBe('one\r\nx\ny\n');
  });

  test('of a file with LF do not match CR LF in the old text', () => {
    expect(problem('one\ntwo\n', 'one\r\ntwo', 'x')).toContain('other line ends');
  });
});

test.each([
  ['if (a) {\n\tb();\n}', 'if (a) {\n  b();\n}', 'other spaces, tabs or line ends'],
  ['Hello World', 'hello world', 'other capital letters'],
  ['something else', 'not there', 'without line numbers'],
  ['a', ' \n', 'without line numbers'],
])('a text that is not found in %j, but is similar (%j), gets a hint', (text, oldText, hint) => {
  expect(problem(text, oldText, 'x')).toContain('The old text is not in “a.txt”.');
  expect(problem(text, oldText, 'x')).toContain(hint);
});

test('if the old and the new text are equal, nothing is changed', () => {
  expect(problem('a', 'a', 'a')).toContain('the same');
});

test('a file cannot grow over the size limit', () => {
  const text = 'a'.repeat(1024 * 1024);
  expect(problem(text, 'a', 'b'.repeat(1024), true)).toContain('larger than 16 MiB');
});
