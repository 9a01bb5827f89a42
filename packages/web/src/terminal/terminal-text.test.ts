import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainText } from './plain-text.ts';
import { TerminalText } from './terminal-text.ts';

function shown(...texts: string[]): string[] {
  const terminal = new TerminalText();
  for (const text of texts) terminal.show(text);
  return terminal.lines.map((line) => line.map(({ text }) => text).join(''));
}

/** Spans as `text` or `text<looks>`. */
function looks(text: string): string[] {
  const terminal = new TerminalText();
  terminal.show(text);
  return terminal.lines.flat().map(({ text: said, style }) => {
    const { foreground, background, decorations } = style;
    const words = [foreground, background].map((colour) => {
      if (colour?.type === 'named') return colour.name;
      if (colour?.type === 'table') return `#${colour.index}`;
      return colour?.rgb.join('.') ?? '';
    });
    const look = [words[0], words[1] && `on ${words[1]}`, ...decorations].filter(Boolean);
    return look.length === 0 ? said : `${said}<${look.join(' ')}>`;
  });
}

describe('what a program writes over', () => {
  it.each([
    ['a return goes back to the line’s beginning', '10 %\r100 %', ['100 %']],
    ['and what is longer stays', 'abcdef\rxy', ['xycdef']],
    ['unless it is erased', 'abcdef\rxy\u001B[K', ['xy']],
    ['a line can be erased whole', 'abc\u001B[2Kd', ['   d']],
    ['or up to the cursor', 'abcdef\u001B[3D\u001B[1K', ['   def']],
    ['a return before a line break changes nothing', 'a\r\nb\r\n', ['a', 'b', '']],
    ['a backspace goes back by one', 'ab\bc', ['ac']],
    ['lines above can be written over', 'one\ntwo\n\u001B[2AONE\n\u001B[1B!', ['ONE', 'two', '!']],
    ['and all below be erased', 'a\nb\nc\u001B[2A\u001B[J', ['a']],
    ['a column can be named', 'abc\u001B[2GX', ['aXc']],
    ['nothing is above the first line', '\u001B[99Aa\u001B[99Db', ['b']],
    ['a gap is filled', 'a\u001B[3Cb', ['a   b']],
  ])('%s', (_, text, expected) => {
    expect(shown(text)).toEqual(expected);
  });

  it('clearing the screen removes nothing from the output', () => {
    expect(shown('kept\n\u001B[2J\u001B[Hnext')).toEqual(['kept', 'next']);
  });
});

describe('how text looks', () => {
  it.each([
    ['\u001B[32mok\u001B[0m done', ['ok<green>', ' done']],
    ['\u001B[1;31mbad\u001B[mgood', ['bad<red bold>', 'good']],
    ['\u001B[30;46m RUN \u001B[49;39m now', [' RUN <black on cyan>', ' now']],
    ['\u001B[38;5;208mfox\u001B[38;2;1;2;3mgrey', ['fox<#208>', 'grey<1.2.3>']],
    ['\u001B[32ma\u001B[32mb', ['ab<green>']],
    ['\u001B[91mover\nlines', ['over<brightRed>', 'lines<brightRed>']],
    ['\u001B[4mold\r\u001B[24mnew', ['new']],
  ])('%j', (text, expected) => {
    expect(looks(text)).toEqual(expected);
  });
});

it.each([
  ['links keep their text', '\u001B]8;;https://x.test\u0007name\u001B]8;;\u001B\\ end', 'name end'],
  ['a title for the window is none of the text', '\u001B]0;title\u0007text', 'text'],
  [
    'a bell and other signs are nothing to see',
    'a\u0007\u0000b\u001B(Bc\u001B=d\u001B[?25le',
    'abcde',
  ],
  ['markup is text', '<img src=x onerror=alert(1)>&amp;', '<img src=x onerror=alert(1)>&amp;'],
  ['tabs stay', 'a\tb', 'a\tb'],
])('%s', (_, text, expected) => {
  expect(shown(text)).toEqual([expected]);
});

const pieces = ['a', 'word ', '\n', '\r', '\b', '\u001B[', '31', 'm', '\u001B[0m', '\u001B[K'];
const oddPieces = [
  '\u001B[1A',
  '\u001B]8;;x',
  '\u001BPx',
  '\u0007',
  '\u001B',
  '\\',
  ';',
  '<b>',
  '😀',
  '\u001B[2C',
];
const piece = fc.constantFrom(...pieces, ...oddPieces);

it('a sequence interrupted by another one is the same in pieces', () => {
  const text = '\u001B[31\u001B]8;;xm\u001B[2Ca';
  const terminal = new TerminalText();
  terminal.show(text.slice(0, 5));
  terminal.show(text);
  const whole = new TerminalText();
  whole.show(text);
  expect(terminal.lines).toEqual(whole.lines);
});

it('text that comes in pieces, cut anywhere, looks as it does when it comes at once', () => {
  const cuts = fc.array(fc.nat({ max: 200 }), { maxLength: 6 });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), cuts, (written, places) => {
      const text = written.join('');
      const terminal = new TerminalText();
      for (const place of places.toSorted((a, b) => a - b)) terminal.show(text.slice(0, place));
      terminal.show(text);
      const whole = new TerminalText();
      whole.show(text);
      const flat = ({ lines }: TerminalText) =>
        lines.map((line) => line.map(({ text: said, style }) => [said, style]));
      expect(flat(terminal)).toEqual(flat(whole));
    }),
    { numRuns: 2_000 },
  );
});

it('plain text loses colours and links, and nothing else', () => {
  expect(
    plainText('\u001B[1;32mok\u001B[0m [1] \u001B]8;;http://x\u0007link\u001B]8;;\u0007'),
  ).toBe('ok [1] link');
});

it('another text replaces the first', () => {
  expect(shown('\u001B[31mone\ntwo', 'three')).toEqual(['three']);
});

it('unchanged lines stay the same objects', () => {
  const terminal = new TerminalText();
  terminal.show('one\ntwo\nthr');
  const [one, two, three] = terminal.lines;
  terminal.show('one\ntwo\nthree\n');
  expect([terminal.lines[0] === one, terminal.lines[1] === two]).toEqual([true, true]);
  expect(terminal.lines[2]).not.toBe(three);
});

it('a flood is bounded, and counted', () => {
  const terminal = new TerminalText();
  const lines = Array.from({ length: 60_000 }, (_, index) => `line ${index}`);
  terminal.show(lines.slice(0, 30_000).join('\n'));
  terminal.show(lines.join('\n'));
  expect(terminal.lines.length).toBeLessThan(23_000);
  expect(terminal.lines.length + terminal.forgotten).toBe(60_000);
  expect(terminal.lines.at(-1)?.[0]?.text).toBe('line 59999');

  const long = new TerminalText();
  long.show(`${'x'.repeat(999)}\n`.repeat(6_000));
  expect(long.lines.length + long.forgotten).toBe(6_001);
});
