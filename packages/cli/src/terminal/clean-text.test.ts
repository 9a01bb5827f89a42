import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cleanText } from './clean-text.ts';

const pieces = [
  '\u001b',
  '[',
  ']',
  'P',
  '\\',
  '52;c;',
  '31m',
  '\u0007',
  '\u009b',
  '\u009c',
  '\u0090',
];
pieces.push('\n', '\t', '\r', '\u202e', '\u200f', '\u200b', '\u{e0041}', '\ud83d', 'rm', '👩‍💻', 'ह');
const steering = fc.string({
  unit: fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', minLength: 1 })),
});

describe('text for a terminal', () => {
  test.each([
    ['\u001b[1;31mred\u001b[0m and \u009b32mgreen', 'red and green'],
    ['\u001b[?1049h\u001b[2J\u001b[H', ''],
    ['\u001b]0;title\u0007a\u001b]52;c;cm0=\u001b\\b\u009d0;x\u009cc', 'abc'],
    ['\u001bPq#0\u001b\\a\u001b_G\u001b\\b', 'ab'],
    ['\u001bca\u001b(Bb\u001b7c', 'abc'],
    ['cut off \u001b]52;c;cm0=', 'cut off ‹U+001B›]52;c;cm0='],
    ['\u001b[31', '‹U+001B›[31'],
    ['a\u001b]0;x\ny', 'a‹U+001B›]0;x\ny'],
    ['50 %\r100 %\r\nok\u0008\u007f', '50 %‹U+000D›100 %\nok‹U+0008›‹U+007F›'],
    ['evil \u202egnp.exe\u2069', 'evil ‹U+202E›gnp.exe‹U+2069›'],
  ])('SAFE: terminal controls and hidden characters in %j are removed or shown', (text, clean) => {
    expect(cleanText(text)).toBe(clean);
  });

  test.each(['Tab\tand\nline', 'मैं ठीक हूँ 👨‍👩‍👧 می‌خواهم שלום', '“ … ” → ✓ ░▒▓ 漢字'])(
    'SAFE: ordinary text stays unchanged: %s',
    (text) => {
      expect(cleanText(text)).toBe(text);
    },
  );

  test('SAFE: the cleaned text contains no terminal control, and cleaning the text again changes nothing', () => {
    fc.assert(
      fc.property(steering, (text) => {
        const clean = cleanText(text);
        expect(clean).not.toMatch(
          /[^\P{Cc}\n\t]|[\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f]/u,
        );
        expect(clean.isWellFormed()).toBe(true);
        expect(cleanText(clean)).toBe(clean);
      }),
    );
  });
});
