import { cpuMsOf } from '@liminal/testkit/cpu-time';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainText } from './plain-text.ts';
import { type Style, TerminalText } from './terminal-text.ts';

function shown(...texts: string[]): string[] {
  const terminal = new TerminalText();
  for (const text of texts) terminal.show(text);
  return terminal.lines.map(({ spans }) => spans.map(({ text }) => text).join(''));
}

/** Returns spans in the form `text` or `text<looks>`. */
function looks(text: string): string[] {
  const terminal = new TerminalText();
  terminal.show(text);
  const spans = terminal.lines.flatMap((line) => line.spans);
  return spans.map(({ text: said, style }) => {
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

describe('text that a program overwrites', () => {
  it.each([
    ['a carriage return goes to the start of the line', '10 %\r100 %', ['100 %']],
    ['text beyond the new text stays after a carriage return', 'abcdef\rxy', ['xycdef']],
    ['text to the end of the line can be erased', 'abcdef\rxy\u001B[K', ['xy']],
    ['a whole line can be erased', 'abc\u001B[2Kd', ['   d']],
    ['a line can be erased up to the cursor', 'abcdef\u001B[3D\u001B[1K', ['   def']],
    ['a carriage return before a line break changes nothing', 'a\r\nb\r\n', ['a', 'b', '']],
    ['a backspace goes back by one column', 'ab\bc', ['ac']],
    ['earlier lines can be overwritten', 'one\ntwo\n\u001B[2AONE\n\u001B[1B!', ['ONE', 'two', '!']],
    ['all lines below can be erased', 'a\nb\nc\u001B[2A\u001B[J', ['a']],
    ['the cursor can go to a numbered column', 'abc\u001B[2GX', ['aXc']],
    ['the cursor cannot go above the first line', '\u001B[99Aa\u001B[99Db', ['b']],
    ['a gap is filled with blanks', 'a\u001B[3Cb', ['a   b']],
    ['the cursor stays near the text', 'a\u001B[9999Cb', [`a${' '.repeat(249)}b`]],
    [
      'the cursor stays near the text after a long line was erased',
      `${'x'.repeat(999)}\u001B[2Ky`,
      [`${' '.repeat(250)}y`],
    ],
    [
      'the cursor stays near the text below a long line',
      `${'x'.repeat(300)}\u001B[By`,
      ['x'.repeat(300), `${' '.repeat(250)}y`],
    ],
  ])('when a program moves the cursor or overwrites text: %s', (_, text, expected) => {
    expect(shown(text)).toEqual(expected);
  });

  it('clearing the screen removes no text from the output', () => {
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
  ])('the terminal shows the text %j with the expected look', (text, expected) => {
    expect(looks(text)).toEqual(expected);
  });
});

it.each([
  ['links keep their text', '\u001B]8;;https://x.test\u0007name\u001B]8;;\u001B\\ end', 'name end'],
  ['a window title is not shown as text', '\u001B]0;title\u0007text', 'text'],
  [
    'a bell and other control characters show nothing',
    'a\u0007\u0000b\u001B(Bc\u001B=d\u001B[?25le',
    'abcde',
  ],
  ['markup is text', '<img src=x onerror=alert(1)>&amp;', '<img src=x onerror=alert(1)>&amp;'],
  ['tabs stay', 'a\tb', 'a\tb'],
])('the terminal shows only the text: %s', (_, text, expected) => {
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

it('if a second escape sequence begins inside an escape sequence, the result is the same when the text arrives in pieces', () => {
  const text = '\u001B[31\u001B]8;;xm\u001B[2Ca';
  const terminal = new TerminalText();
  terminal.show(text.slice(0, 5));
  terminal.show(text);
  const whole = new TerminalText();
  whole.show(text);
  expect(terminal.lines).toEqual(whole.lines);
});

it('text that arrives in pieces, cut at any index, looks the same as when it arrives at once', () => {
  const cuts = fc.array(fc.nat({ max: 200 }), { maxLength: 6 });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), cuts, (written, places) => {
      const text = written.join('');
      const terminal = new TerminalText();
      for (const place of places.toSorted((a, b) => a - b)) terminal.show(text.slice(0, place));
      terminal.show(text);
      const whole = new TerminalText();
      whole.show(text);
      expect(terminal.lines).toEqual(whole.lines);
    }),
    { numRuns: 2_000 },
  );
});

it('plainText removes colours and links, and no other text', () => {
  expect(
    plainText('\u001B[1;32mok\u001B[0m [1] \u001B]8;;http://x\u0007link\u001B]8;;\u0007'),
  ).toBe('ok [1] link');
});

it('a text that does not continue the shown text replaces the shown text', () => {
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

it('only a bounded part of a flood is kept, and the lines that are not kept are counted', () => {
  const terminal = new TerminalText();
  const lines = Array.from({ length: 60_000 }, (_, index) => `line ${index}`);
  terminal.show(lines.slice(0, 30_000).join('\n'));
  terminal.show(lines.join('\n'));
  expect(terminal.lines.length).toBeLessThan(23_000);
  expect(terminal.lines.length + terminal.forgotten).toBe(60_000);
  expect(terminal.lines.at(-1)?.spans[0]?.text).toBe('line 59999');

  const long = new TerminalText();
  long.show(`${'x'.repeat(999)}\n`.repeat(6_000));
  expect(long.lines.length + long.forgotten).toBe(6_001);
});

it('the start of a very long line and the line’s length are kept', () => {
  const terminal = new TerminalText();
  terminal.show('x'.repeat(1_000_000));
  const [long] = terminal.lines;
  expect([long?.length, long?.spans.map(({ text }) => text.length)]).toEqual([1_000_000, [10_000]]);
  terminal.show(`${'x'.repeat(1_000_000)}\r\u001B[31mab`);
  expect(terminal.lines[0]?.spans.map(({ text }) => text.length)).toEqual([2, 9_998]);
  terminal.show(`${'x'.repeat(1_000_000)}\r\u001B[31mab\u001B[K`);
  expect(terminal.lines[0]).toMatchObject({ length: 2, spans: [{ text: 'ab' }] });
});

it('a sequence without an end is shown as text, even if the text after its beginning is very long', () => {
  for (const begin of ['\u001B]8;;', '\u001BP', '\u001B[']) {
    const text = `${begin}${'1'.repeat(3_000)}`;
    expect(shown(text)).toEqual([text.slice(1)]);
    expect(shown(text.slice(0, 1_000), text.slice(0, 2_900), text)).toEqual([text.slice(1)]);
  }
});

/** Computes the expected lines cell by cell: each step reads and copies the whole screen. */
function slowly(steps: readonly Step[]): string[] {
  let screen: { character: string; style: string }[][] = [[]];
  let row = 0;
  let column = 0;
  let style = '';
  const blank = { character: ' ', style: '' };
  const furthest = () => Math.max(250, screen[row]?.length ?? 0);
  for (const { does, count = 1, text = '' } of steps) {
    screen = screen.map((line) => [...line]);
    if (does === 'write') {
      for (const character of text) {
        const line = screen[row] ?? [];
        while (line.length < column) line.push(blank);
        line[column] = { character, style };
        column += 1;
      }
    }
    if (does === 'style') style = count === 0 ? '' : `${count}`;
    if (does === 'start') column = 0;
    if (does === 'back') column = Math.max(0, column - 1);
    if (does === 'right') column = Math.min(column + count, furthest());
    if (does === 'left') column = Math.max(0, column - count);
    if (does === 'column') column = Math.min(count - 1, furthest());
    if (does === 'up') row = Math.max(0, row - count);
    if (does === 'down') row += count;
    if (does === 'break') [row, column] = [row + 1, 0];
    while (screen.length <= row) screen.push([]);
    const line = screen[row] ?? [];
    if (does === 'erase below') screen = screen.slice(0, row + 1);
    if (does === 'erase below' || does === 'erase right') screen[row] = line.slice(0, column);
    if (does === 'erase line' || (does === 'erase left' && column >= line.length)) screen[row] = [];
    if (does === 'erase left' && column < line.length)
      screen[row] = line.map((cell, at) => (at < column ? blank : cell));
    column = Math.min(column, furthest());
  }
  return screen.map((line) => line.map((cell) => `${cell.character}${cell.style}`).join('|'));
}

const sequences = {
  write: ({ text = '' }: Step) => text,
  style: ({ count }: Step) => `\u001B[${count}m`,
  start: () => '\r',
  back: () => '\b',
  break: () => '\n',
  right: ({ count }: Step) => `\u001B[${count}C`,
  left: ({ count }: Step) => `\u001B[${count}D`,
  column: ({ count }: Step) => `\u001B[${count}G`,
  up: ({ count }: Step) => `\u001B[${count}A`,
  down: ({ count }: Step) => `\u001B[${count}B`,
  'erase right': () => '\u001B[K',
  'erase left': () => '\u001B[1K',
  'erase line': () => '\u001B[2K',
  'erase below': () => '\u001B[J',
};

interface Step {
  does: keyof typeof sequences;
  count?: number;
  text?: string;
}

it('a line that is written column by column is the same in a simple terminal that works cell by cell', () => {
  const counts = fc.constantFrom(1, 1, 2, 3, 5, 40, 999);
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 3,
      arbitrary: fc
        .constantFrom('a', 'bc', 'x'.repeat(120), '漢', '\u0E33\u0323', '\t')
        .map((text) => ({ does: 'write' as const, text })),
    },
    fc.constantFrom(0, 31, 32, 35).map((count) => ({ does: 'style' as const, count })),
    fc
      .constantFrom(
        'start',
        'back',
        'break',
        'erase right',
        'erase left',
        'erase line',
        'erase below',
      )
      .map((does) => ({ does })),
    fc
      .tuple(fc.constantFrom('right', 'left', 'column'), counts)
      .map(([does, count]) => ({ does, count })),
    fc
      .tuple(fc.constantFrom('up', 'down'), fc.constantFrom(1, 2, 3))
      .map(([does, count]) => ({ does, count })),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const terminal = new TerminalText();
      let text = '';
      for (const one of steps) {
        text += sequences[one.does](one);
        // Show some steps one by one, because the terminal may remove lines between steps.
        if (text.length % 3 === 0) terminal.show(text);
      }
      terminal.show(text);
      const codes: Record<string, number> = { red: 31, green: 32, magenta: 35 };
      const code = ({ foreground }: Style) =>
        foreground?.type === 'named' ? codes[foreground.name] : '';
      const cells = terminal.lines.map(({ spans }) =>
        spans
          .flatMap(({ text: said, style }) =>
            said.split('').map((character) => `${character}${code(style)}`),
          )
          .join('|'),
      );
      expect(cells).toEqual(slowly(steps));
    }),
    { numRuns: 2_000 },
  );
});

const sequence = (parameters: string) => `\u001B[${parameters}`;
const million = (unit: string) => unit.repeat(Math.ceil(1_000_000 / unit.length));
const colour = (n: number) => sequence(`38;2;${n % 256};${(n >> 8) % 256};7m`);

/**
 * Texts of about a million characters, of most kinds. Parsing them in more than linear time would take minutes or
 * hours.
 */
const floods: Record<string, string> = {
  'coloured letters in one line': million(`${sequence('31m')}a${sequence('0m')}b`),
  'a colour of its own for each letter': Array.from(
    { length: 50_000 },
    (_, n) => `${colour(n)}x`,
  ).join(''),
  'styles with many parts': million(sequence(`${'1;31;4;'.repeat(100)}mx`)),
  'returns in a long line': 'x'.repeat(9_000) + million('\rab'),
  backspaces: million('ab\b'),
  'backspaces in a long line': 'x'.repeat(9_000) + million('\b\bz'),
  'the beginning erased again and again': 'x'.repeat(9_999) + million(sequence('1K')),
  'the beginning erased below long lines':
    'x'.repeat(9_999) + million(sequence('B') + sequence('1K')),
  'the line erased behind each word': million(`abc${sequence('2K')}`),
  'the end erased behind each word': million(`abc\b${sequence('K')}`),
  'all below erased': million(`${sequence('999B')}${sequence('999A')}${sequence('J')}`),
  'two long lines in turn':
    million(`${'x'.repeat(9_000)}\n`) + million(`${sequence('A')}x${sequence('B')}x`),
  'up through all lines': 'x\n'.repeat(20_000) + million(`${sequence('A')}x`),
  'down without end': million(sequence('999B')),
  gaps: million(`${sequence('999C')}x\n`).slice(0, 100_000),
  'a gap in the same line': million(`\r${sequence('K')}${sequence('999C')}x`),
  tabs: million('\t'),
  'wide and combining characters': million('漢\u0E33\u0323'),
  emoji: million('👨‍👩‍👧‍👦'),
  links: million('\u001B]8;;http://x\u0007a\u001B]8;;\u0007'),
  'links without an end': million('\u001B]8;;x'),
  'one link without an end': `\u001B]8;;${million('x')}`,
  'one sequence without an end': sequence(million('1;')),
  'nothing but escapes': million('\u001B'),
  'empty lines': million('\n'),
  'short lines': million('x\n'),
};

it.each(Object.entries(floods))(
  'a million characters of %s are parsed in linear time',
  (_, text) => {
    expect(cpuMsOf(() => new TerminalText().show(text))).toBeLessThan(30_000);
  },
  60_000,
);

it.each([
  ['coloured letters', `${sequence('31m')}a${sequence('0m')}`],
  ['a progress bar', `\r${'#'.repeat(40)}`],
  ['lines', 'some words in a line\n'],
])(
  'if %s arrive one by one, each is parsed only once',
  (_, piece) => {
    const terminal = new TerminalText();
    let text = million(piece).slice(0, piece.length * 10_000);
    terminal.show(text);
    const show = () => {
      for (let count = 0; count < 2_000; count += 1) terminal.show((text += piece));
    };
    expect(cpuMsOf(show)).toBeLessThan(30_000);
  },
  60_000,
);
