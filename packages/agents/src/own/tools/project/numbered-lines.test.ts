import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NumberedLines } from './numbered-lines.ts';

function number(parts: readonly string[], first = 1, limit = 2_000, isWhole = true): NumberedLines {
  const lines = new NumberedLines(first, limit);
  for (const part of parts) lines.add(part);
  lines.end('', isWhole);
  return lines;
}

test('each line has its number, but no line end', () => {
  expect(number(['one\r\ntw', 'o\n\nfour']).text).toBe(
    '     1\tone\n     2\ttwo\n     3\t\n     4\tfour',
  );
});

test('a note gives the number of remaining lines, and explains how to read them', () => {
  const text = Array.from({ length: 10 }, (_, at) => `line ${at + 1}\n`);
  expect(number(text, 3, 2).text).toBe(
    '     3\tline 3\n     4\tline 4\n(Lines 3 to 4 of 10. To read on, set offset to 5.)',
  );
  expect(number(text, 3, 2, false).text).toContain('of more than 10. ');
  expect(number(text, 9, 2).text).toBe('     9\tline 9\n    10\tline 10');
});

test('an offset after the last line gives no lines', () => {
  expect(number(['a\nb\n'], 3).text).toBe('');
  expect(number(['a\nb\n'], 3).total).toBe(2);
  expect(number([]).total).toBe(0);
});

test('a long line is cut and marked', () => {
  const { text } = number(['a'.repeat(1_500), 'b'.repeat(1_500), '\nnext']);
  expect(text).toContain(`${'b'.repeat(500)}… (1000 more characters)\n     2\tnext`);
});

test('if many long lines exceed the limit, the output ends with the offset of the next line', () => {
  const { text } = number([`${'x'.repeat(1_999)}\n`.repeat(1_000)]);
  expect(text.length).toBeLessThan(101_000);
  expect(text).toMatch(/\(Lines 1 to 49 of 1000\. To read on, set offset to 50\.\)$/);
});

test('the way in which a text is divided into parts has no effect', () => {
  const piece = fc.constantFrom('\n', '\r\n', 'a', 'bc', '');
  fc.assert(
    fc.property(fc.array(piece), fc.integer({ min: 1, max: 5 }), (pieces, first) => {
      const [whole, parted] = [number([pieces.join('')], first, 2), number(pieces, first, 2)];
      return whole.text === parted.text && whole.total === parted.total;
    }),
  );
});

test('the total is the number of lines in the text', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[ab\n]*$/), (text) => {
      const expected = text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
      return number([text]).total === expected;
    }),
  );
});
