import { expect, test } from 'vitest';
import { claudePrompt as promptIn } from './prompt.ts';
import type { ContentBlock } from '@liminal/protocol';

const promptOf = (text: string, blocks: readonly ContentBlock[]) => promptIn(text, blocks, '/code');

const image = { type: 'image', mimeType: 'image/png', data: 'iVBORw==' } as const;

test('a message that has only text stays one text, as Claude Code’s own terminal sends it', () => {
  expect(promptOf('Hello', [])).toBe('Hello');
});

test('an image follows the text, with unchanged bytes', () => {
  const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw==' };
  expect(promptOf('What is this?', [image])).toEqual([
    { type: 'text', text: 'What is this?' },
    { type: 'image', source },
  ]);
  expect(promptOf('', [image])).toEqual([{ type: 'image', source }]);
});

test('files become documents: text files with their text, other files with their bytes', () => {
  const text = { uri: 'notes.md', mimeType: 'text/markdown', text: '# Notes' };
  const pdf = { uri: 'blob:1', name: 'a.pdf', mimeType: 'application/pdf', blob: 'JVBERg==' };
  expect(
    promptOf('Read.', [
      { type: 'resource', resource: text },
      { type: 'resource', resource: pdf },
    ]),
  ).toEqual([
    { type: 'text', text: 'Read.' },
    {
      type: 'document',
      title: 'notes.md',
      source: { type: 'text', media_type: 'text/plain', data: '# Notes' },
    },
    {
      type: 'document',
      title: 'a.pdf',
      source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
    },
  ]);
});

const link = (uri: string, name: string) => ({ type: 'resource_link', uri, name }) as const;

test('a link to a file that the text mentions adds nothing', () => {
  const text = 'Compare @a.ts with @"b c.ts" in @src/.';
  const links = [
    link('file:///code/a.ts', 'a.ts'),
    link('file:///code/b%20c.ts', 'b c.ts'),
    link('file:///code/src/', 'src'),
  ];
  expect(promptOf(text, links)).toBe(text);
  const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw==' };
  // The mentions come last, because Claude Code reads mentions and commands only in the last part.
  expect(promptOf(text, [...links, image])).toEqual([
    { type: 'image', source },
    { type: 'text', text },
  ]);
  expect(promptOf('/look', [image])).toMatchObject([{ type: 'image' }, { text: '/look' }]);
  expect(promptOf('Not @lib/a.ts', links.slice(0, 1))).toBe('Not @lib/a.ts\n\n@/code/a.ts');
});

test('a path that Claude Code cannot read in a mention is added as text', () => {
  const links = [
    link('file:///code/c%23/a.cs', 'a.cs'),
    link('file:///code/%22it%22.ts', '"it".ts'),
    link('file:///code/with%20%22it%22', 'with "it"'),
  ];
  const text = 'See @"c#/a.cs" and @"\\"it\\".ts".';
  expect(promptOf(text, links)).toBe(
    `${text}\n\n/code/c#/a.cs\n\n/code/"it".ts\n\n/code/with "it"`,
  );
});

test('links to files become mentions, which Claude Code reads; other links become text', () => {
  expect(
    promptOf('Compare.', [
      link('file:///code/a.ts', 'a.ts'),
      link('file:///code/b%20c.ts', 'b c.ts'),
      link('https://example.org/', 'Example'),
    ]),
  ).toBe('Compare.\n\n@/code/a.ts\n\n@"/code/b c.ts"\n\nExample: https://example.org/');
});
