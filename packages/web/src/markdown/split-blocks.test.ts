import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptySplit, splitBlocks } from './split-blocks.ts';
import type { Block } from './block.ts';

function blocksOf(text: string) {
  return splitBlocks(text, emptySplit).blocks;
}

/** Pieces of Markdown whose meaning changes when they are joined to other pieces. */
const piece = fc.constantFrom(
  'word ',
  '\n',
  '\n\n',
  '- item\n',
  '1. one\n',
  '```ts\n',
  '```\n',
  '~~~\n',
  '    indented\n',
  '> quote\n',
  '# Title\n',
  '| a | b |\n',
  '| - | - |\n',
  '---\n',
  '===\n',
  '<div>\n',
  '</div>\n',
  '**bold',
  '**',
  '`code`',
  '[link](http://x)',
  '[ref]: http://x\n',
  '\t',
  '  \n',
  '\r\n',
  '[^1]: note\n',
);

describe('blocks', () => {
  it('joining the blocks gives the message', () => {
    const text = '# Title\n\nWords\nmore words\n\n- one\n\n- two\n\n```ts\nconst a = 1;\n```\nend';
    expect(blocksOf(text).map((block) => block.raw)).toEqual([
      '# Title\n\n',
      'Words\nmore words\n\n',
      '- one\n\n- two\n\n',
      '```ts\nconst a = 1;\n```\n',
      'end',
    ]);
  });

  it('an unfinished fenced block is code from its first line on, until its own closing fence arrives', () => {
    expect(blocksOf('```ts')[0]?.code).toEqual({ text: '', lang: 'ts', open: true });
    expect(blocksOf('```ts\nconst a')[0]?.code).toEqual({
      text: 'const a',
      lang: 'ts',
      open: true,
    });
    expect(blocksOf('```ts\nconst a\n```')[0]?.code).toMatchObject({
      text: 'const a',
      open: false,
    });
    expect(blocksOf('````md\n```\n')[0]?.code).toMatchObject({ text: '```', open: true });
  });

  it('no text is lost or added, and blank text does not become a block', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30, size: 'max' }), (pieces) => {
        const text = pieces.join('').replaceAll('\r\n', '\n');
        const joined = rawOf(blocksOf(text)).join('');
        expect(joined).toBe(text.trim() === '' ? '' : text);
      }),
      { numRuns: 200 },
    );
  });

  it('a finished block stays the same object while the message grows', () => {
    const before = splitBlocks('one\n\ntwo\n\nthr', emptySplit);
    const after = splitBlocks('one\n\ntwo\n\nthree\n\nfour', before);
    expect(after.blocks[0]).toBe(before.blocks[0]);
    expect(after.blocks[1]).toEqual(before.blocks[1]);
    expect(after.blocks.map((block) => block.key)).toEqual([0, 1, 2, 3]);
  });

  it('if a text does not continue the previous text, it is parsed from its start', () => {
    const before = splitBlocks('one\n\ntwo', emptySplit);
    expect(splitBlocks('other', before).blocks.map((block) => block.raw)).toEqual(['other']);
    expect(splitBlocks('one\n\ntwo', before)).toBe(before);
  });

  it('a message has the same blocks whether it arrives in pieces or is parsed at once', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30, size: 'max' }), (pieces) => {
        let split = emptySplit;
        let text = '';
        for (const next of pieces) {
          text += next;
          split = splitBlocks(text, split);
        }
        expect(rawOf(split.blocks)).toEqual(rawOf(blocksOf(text)));
        expect(split.blocks.map((block) => block.key)).toEqual(split.blocks.map((_, i) => i));
      }),
      { numRuns: 200 },
    );
  });
});

function rawOf(blocks: readonly Block[]): string[] {
  return blocks.map((block) => block.raw);
}
