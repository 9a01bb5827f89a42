import { expect, test } from 'vitest';
import { promptOf } from './prompt.ts';

const image = { type: 'image', mimeType: 'image/png', data: 'iVBORw==' } as const;

test('words alone stay one text, as Claude Code’s own terminal sends them', () => {
  expect(promptOf('Hello', [])).toBe('Hello');
});

test('the words come after an image, which has its bytes as they are', () => {
  const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw==' };
  expect(promptOf('What is this?', [image])).toEqual([
    { type: 'image', source },
    { type: 'text', text: 'What is this?' },
  ]);
  expect(promptOf('', [image])).toEqual([{ type: 'image', source }]);
});

test('files are documents: text as text, others by their bytes', () => {
  const text = { uri: 'notes.md', mimeType: 'text/markdown', text: '# Notes' };
  const pdf = { uri: 'blob:1', name: 'a.pdf', mimeType: 'application/pdf', blob: 'JVBERg==' };
  expect(
    promptOf('Read.', [
      { type: 'resource', resource: text },
      { type: 'resource', resource: pdf },
    ]),
  ).toEqual([
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
    { type: 'text', text: 'Read.' },
  ]);
});

test('links to files are mentioned, as Claude Code reads them; others are said', () => {
  const link = (uri: string, name: string) => ({ type: 'resource_link', uri, name }) as const;
  expect(
    promptOf('Compare.', [
      link('file:///code/a.ts', 'a.ts'),
      link('file:///code/b%20c.ts', 'b c.ts'),
      link('https://example.org/', 'Example'),
    ]),
  ).toBe('Compare.\n\n@/code/a.ts\n\n@"/code/b c.ts"\n\nExample: https://example.org/');
});
