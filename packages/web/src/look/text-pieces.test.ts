import fc from 'fast-check';
import { expect, it } from 'vitest';
import { textPieces } from './text-pieces.ts';

const length = 2_000;

it.each([
  ['ordinary text', 'One.\nTwo.', ['One.\nTwo.']],
  ['nothing', '', []],
  [
    'lines',
    'x'.repeat(1_500).concat('\n').repeat(2),
    [`${'x'.repeat(1_500)}\n`, `${'x'.repeat(1_500)}\n`],
  ],
  ['words', `${'a'.repeat(1_990)} ${'b'.repeat(20)}`, [`${'a'.repeat(1_990)} `, 'b'.repeat(20)]],
  ['one word', 'a'.repeat(2_001), ['a'.repeat(2_000), 'a']],
  ['pairs', `a${'😀'.repeat(1_000)}`, [`a${'😀'.repeat(999)}`, '😀']],
  ['a family', `${'a'.repeat(1_998)}👨‍👩‍👧‍👦`, ['a'.repeat(1_998), '👨‍👩‍👧‍👦']],
  ['a mark', `${'a'.repeat(1_999)}e\u0301`, ['a'.repeat(1_999), 'e\u0301']],
  ['only marks', '\u0323'.repeat(2_001), ['\u0323'.repeat(2_000), '\u0323']],
])('%s: cut where it is least seen', (_, text, pieces) => {
  expect(textPieces(text)).toEqual(pieces);
});

it('the pieces of any text are the text, none is long, and no character is cut', () => {
  const unit = fc.constantFrom(
    'a',
    ' ',
    '\n',
    '😀',
    '\u0323',
    '👨‍👩‍👧‍👦',
    '\u05D0',
    'x'.repeat(700),
    '\uDE00',
  );
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 4_000, minLength: 500 }), (text) => {
      const pieces = textPieces(text);
      expect(pieces.join('')).toBe(text);
      expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(length);
      const isCut = (piece: string, at: number) =>
        /[\uD800-\uDBFF]$/.test(piece) && /^[\uDC00-\uDFFF]/.test(pieces[at + 1] ?? '');
      expect(pieces.filter(isCut)).toEqual([]);
    }),
  );
});
