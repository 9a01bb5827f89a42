import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { escapeHiddenInJson, markHidden, splitHidden } from './hidden-characters.ts';

const suspects = ['\u001b', '\u009b', '\u007f', '\r', '\u202e', '\u2066', '\u200f', '\u061c'];
suspects.push('\u200b', '\u200d', '\u2060', '\ufeff', '\u{e0041}', '\ud800', '\u2028', '\u00ad');
const deceiving = fc.string({
  unit: fc.oneof(fc.constantFrom(...suspects), fc.string({ unit: 'binary', minLength: 1 })),
});
/** Characters that must not remain in the text: controls other than `\n` and `\t`, direction marks, lone surrogates. */
const turnsOrSteers =
  /[^\P{Cc}\n\t]|[\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]/u;

describe('hidden characters', () => {
  test.each([
    ['rm \u202egpj.exe', 'rm ‹U+202E›gpj.exe'],
    ['a\u2066b\u2069', 'a‹U+2066›b‹U+2069›'],
    ['l\u200bs', 'l‹U+200B›s'],
    ['l\u200ds', 'l‹U+200D›s'],
    ['1\ufe0f', '1‹U+FE0F›'],
    ['\ufeff#!', '‹U+FEFF›#!'],
    ['a\u{e0041}', 'a‹U+E0041›'],
    ['\u001b[2J', '‹U+001B›[2J'],
    ['one\rtwo', 'one‹U+000D›two'],
    ['half \ud83d', 'half ‹U+D83D›'],
  ])('SAFE: %j is shown as %s', (text, shown) => {
    expect(markHidden(text)).toBe(shown);
  });

  test.each([
    'Two\n\tlines\r\nand a third',
    'Familie 👨‍👩‍👧‍👦, 👩🏽‍💻, 🏳️‍🌈, 🏴󠁧󠁢󠁥󠁮󠁧󠁿, ❤️, 1️⃣, 🇩🇪',
    'مرحبا بالعالم، می‌خواهم',
    'क्षत्रिय, क्‍ष, हिन्दी',
    '葛󠄀城市, 日本語',
    'naïve – “quoted” … ﬁ, Ωμέγα, Привет',
  ])('SAFE: ordinary text stays as it is: %s', (text) => {
    expect(markHidden(text)).toBe(text);
    expect(splitHidden(text)).toEqual([{ text, isHidden: false }]);
  });

  test('SAFE: no direction marks or controls remain, and the pieces together are the text', () => {
    fc.assert(
      fc.property(deceiving, (text) => {
        expect(markHidden(text).replaceAll('\r\n', '\n')).not.toMatch(turnsOrSteers);
        expect(
          splitHidden(text)
            .map((piece) => piece.text)
            .join(''),
        ).toBe(text);
      }),
    );
  });

  test('SAFE: escaped JSON has the same value and no hidden characters', () => {
    fc.assert(
      fc.property(fc.dictionary(deceiving, deceiving), (value) => {
        const json = escapeHiddenInJson(JSON.stringify(value));
        expect(JSON.parse(json)).toEqual(value);
        expect(json).not.toMatch(turnsOrSteers);
        expect(markHidden(json)).toBe(json);
      }),
    );
  });
});
