import { cpuMsOf } from '@liminal/testkit/cpu-time';
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawnLength, limits, stepEnd, whyPlain } from './limits.ts';
import { emptySplit, splitBlocks } from './split-blocks.ts';

const lines = (count: number, line: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n');
const plainOf = (text: string) => splitBlocks(text, emptySplit).blocks.map(({ plain }) => plain);

describe('text that is too much for the parser', () => {
  it.each([
    ['quotes in a line', '>'.repeat(3000), 'nested too deeply'],
    ['lists in a line', '1. '.repeat(500), 'nested too deeply'],
    ['lists by indentation', `${' '.repeat(100)}- a`, 'nested too deeply'],
    ['lists by tabs', `${'\t'.repeat(50)}- a`, 'nested too deeply'],
    ['footnotes', lines(50, (n) => `${'    '.repeat(n)}[^${n}]:`), 'nested too deeply'],
    ['columns', `${'|a'.repeat(200)}|\n${'|-'.repeat(200)}|`, 'too many columns'],
    [
      'cells that rows leave out',
      `${'|a'.repeat(50)}|\n${'|-'.repeat(50)}|\n${lines(50, () => 'a')}`,
      'too many cells in a table',
    ],
    ['brackets', '['.repeat(2000), 'too many marks'],
    ['stars', '*a'.repeat(2000), 'too many marks'],
    ['stars over many lines', lines(500, () => '*a **b'), 'too many marks'],
    ['formulas', '\\('.repeat(200), 'too many formulas without an end'],
    ['lines', lines(1500, () => 'a'), 'too many lines'],
    ['one line', 'a'.repeat(1 << 20), 'too long'],
  ])('a text with too many of these is not given to the parser: %s', (_, text, why) => {
    expect(whyPlain(text)).toBe(why);
    expect(plainOf(text)).toEqual([why]);
  });

  it('text that the parser cannot handle does not change the text around it', () => {
    const text = `# Title\n\n${'>'.repeat(3000)} a\n\nWords.\n`;
    expect(plainOf(text)).toEqual([undefined, 'nested too deeply', undefined]);
  });

  it('inside a code block, text that the parser cannot handle is shown as code', () => {
    const [before, code, after] = splitBlocks(
      `Words:\n\`\`\`json\n${'['.repeat(5000)}\n\n${']'.repeat(5000)}\n\`\`\`\nMore.`,
      emptySplit,
    ).blocks;
    expect(before?.raw).toBe('Words:\n');
    const text = `${'['.repeat(5000)}\n\n${']'.repeat(5000)}`;
    expect(code?.code).toEqual({ text, lang: 'json', open: false });
    expect(after?.raw).toBe('More.');
  });

  it('in a code block, text after blank lines that the parser cannot handle is shown as code, even before the block’s end has arrived', () => {
    const [block] = splitBlocks(`\n\n~~~\n${'['.repeat(5000)}\n`, emptySplit).blocks;
    expect(block?.code).toEqual({ text: `${'['.repeat(5000)}\n`, lang: '', open: true });
  });

  it('a code block is also found after text that only looks like the start of a code block', () => {
    const text = `<!--\n\`\`\`\n-->\n\n${'['.repeat(20_000)}`;
    expect(cpuMsOf(() => splitBlocks(text, emptySplit))).toBeLessThan(500);
  });

  it('no text is lost if the parser cannot handle a part of the message', () => {
    const piece = fc.constantFrom(
      'word ',
      '\n',
      '\n\n',
      '```ts\n',
      '```\n',
      '~~~\n',
      '- item\n',
      `${'>'.repeat(100)} deep\n`,
      `${'['.repeat(1100)}`,
      `${' '.repeat(100)}- deep\n`,
      '<!--\n',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30, size: 'max' }), (pieces) => {
        const text = pieces.join('');
        const { blocks } = splitBlocks(text, emptySplit);
        const joined = blocks.map(({ raw }) => raw).join('');
        expect(joined).toBe(text.trim() === '' ? '' : text);
        expect(blocks.map(({ key }) => key)).toEqual(blocks.map((_, index) => index));
      }),
      { numRuns: 200 },
    );
  });
});

describe('the check', () => {
  it('the check takes linear time for any text', () => {
    const part = fc.constantFrom(
      '|',
      '-',
      ' ',
      '\t',
      '>',
      '[',
      '\\(',
      '*a',
      '_',
      '`',
      '\n',
      'a',
      '1. ',
      ': ',
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
        const text = parts.join('');
        const huge = text.repeat(Math.ceil((1 << 19) / text.length));
        const check = () => {
          whyPlain(huge.slice(0, limits.blockLength));
          expect(drawnLength(huge)).toBeLessThanOrEqual(huge.length);
          stepEnd(huge, 0);
        };
        expect(cpuMsOf(check)).toBeLessThan(500);
      }),
      { numRuns: 100 },
    );
  });

  it('the check accepts ordinary Markdown: every page of our own documentation', () => {
    const root = new URL('../../../../', import.meta.url);
    const docs = new URL('docs/', root);
    const files = readdirSync(docs, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => new URL(name, docs));
    for (const file of [new URL('README.md', root), new URL('CHANGELOG.md', root), ...files]) {
      const text = readFileSync(file, 'utf8');
      expect([file.pathname, plainOf(text).filter(Boolean)]).toEqual([file.pathname, []]);
    }
    expect(files.length).toBeGreaterThan(3);
  });

  it('the check accepts long but ordinary blocks', () => {
    const table = `| a | b | c |\n|---|---|---|\n${lines(300, (n) => `| \`${n}\` | **b** | [c](d) |`)}`;
    const list = lines(400, (n) => `- **item ${n}** of [all](http://a.b) with \`code_of_it\``);
    const paragraph = 'Some **bold** words with `code_names` and a [link](http://a.b/c_d). '.repeat(
      80,
    );
    for (const text of [table, list, paragraph]) expect(whyPlain(text)).toBeUndefined();
    const quote = lines(300, (n) => `> said ${n}`);
    const code = `- one\n\n${lines(300, (n) => `  const a${n} = [${n}];`)}`;
    for (const text of [quote, code, `${table}\n\n${list}`])
      expect(plainOf(text)).not.toContain('x');
    expect(plainOf(`${table}\n\n${list}\n\n${quote}\n\n${code}`).filter(Boolean)).toEqual([]);
  });
});

describe('a message', () => {
  it('a message that is too long is rendered up to a blank line', () => {
    const text = lines(20_000, (n) => `Paragraph ${n}.\n`);
    const drawn = drawnLength(text);
    expect(drawn).toBeLessThan(text.length);
    expect(text.slice(0, drawn).endsWith('\n\n')).toBe(true);
    expect(text.slice(0, drawn).split('\n\n').length - 1).toBe(limits.messageBlocks);
  });

  it('a message with too many definitions is rendered up to the last definition within the limit', () => {
    const text = lines(1000, (n) => `[^${n}]: note\n`);
    expect(text.slice(0, drawnLength(text)).match(/\]:/g)).toHaveLength(limits.definitions);
  });

  it('a message is parsed in steps that end at blank lines', () => {
    const text = lines(1000, (n) => `Paragraph ${n}.\n`);
    const end = stepEnd(text, 0);
    expect(text.slice(0, end).split('\n\n').length - 1).toBe(limits.stepBlocks);
    expect(stepEnd('short', 0)).toBe(5);
    expect(stepEnd('short', 5)).toBe(5);
  });
});
