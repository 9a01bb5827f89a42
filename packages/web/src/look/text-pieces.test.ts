import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isSlowBlock, spanPieces, textPieces } from './text-pieces.ts';

const alef = '\u05D0';

it.each([
  ['ordinary text', 'One.\nTwo.', ['One.\nTwo.']],
  ['nothing', '', []],
  ['lines', `${alef.repeat(700)}\n`.repeat(2), [`${alef.repeat(700)}\n`, `${alef.repeat(700)}\n`]],
  ['words', `${alef.repeat(990)} ${alef.repeat(20)}`, [`${alef.repeat(990)} `, alef.repeat(20)]],
  ['one word', alef.repeat(1_001), [alef.repeat(1_000), alef]],
  ['one word of Latin letters', 'a'.repeat(20_001), ['a'.repeat(20_000), 'a']],
  ['a long line of Latin words', 'word '.repeat(3_000), ['word '.repeat(3_000)]],
  ['pairs', `a${'😀'.repeat(10_000)}`, [`a${'😀'.repeat(9_999)}`, '😀']],
  ['a family', `${'a'.repeat(19_998)}👨‍👩‍👧‍👦`, ['a'.repeat(19_998), '👨‍👩‍👧‍👦']],
  ['a mark', `${'a'.repeat(19_999)}e\u0301`, ['a'.repeat(19_999), 'e\u0301']],
  ['only marks', '\u0323'.repeat(1_001), ['\u0323'.repeat(1_000), '\u0323']],
])('a text of %s is cut where the cut is least visible', (_, text, pieces) => {
  expect(textPieces(text)).toEqual(pieces);
});

const unit = fc.constantFrom('a ', '\n', '😀', '\u0323', '👨‍👩‍👧‍👦', alef, alef.repeat(300), '\uDE00');

it('joining the pieces gives the text, no piece is too long, and no character is cut', () => {
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 4_000, minLength: 500 }), (text) => {
      const pieces = textPieces(text);
      expect(pieces.join('')).toBe(text);
      const most = isSlowBlock(text, 1_000) ? 1_000 : 20_000;
      expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(most);
      const isCut = (piece: string, at: number) =>
        /[\uD800-\uDBFF]$/.test(piece) && /^[\uDC00-\uDFFF]/.test(pieces[at + 1] ?? '');
      expect(pieces.filter(isCut)).toEqual([]);
    }),
  );
});

it('spans are cut at the same places as their text, and keep their properties', () => {
  const spans = fc.array(fc.record({ text: fc.string({ unit, minLength: 1 }), style: fc.nat(3) }), {
    maxLength: 300,
  });
  const cells = (some: readonly { text: string; style: number }[]) =>
    some.flatMap(({ text, style }) => text.split('').map((character) => `${style}${character}`));
  fc.assert(
    fc.property(spans, (all) => {
      const pieces = spanPieces(all);
      const texts = pieces.map((piece) => piece.map(({ text }) => text).join(''));
      expect(texts).toEqual(textPieces(all.map(({ text }) => text).join('')));
      expect(cells(pieces.flat())).toEqual(cells(all));
    }),
  );
});
