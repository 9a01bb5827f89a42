import type { ContentBlock } from '@agentclientprotocol/sdk';
import { expect, test } from 'vitest';
import { readPrompt } from './prompt.ts';

const text = (words: string): ContentBlock => ({ type: 'text', text: words });
const link = (uri: string, name: string): ContentBlock => ({ type: 'resource_link', uri, name });
const read = (...prompt: ContentBlock[]) =>
  readPrompt(prompt, { cwd: '/linked', projectDir: '/project' });

test('FR-039-02: a link to a project file between words becomes a mention, as in any other message', () => {
  const prompt = read(
    text('Look at '),
    link('file:///project/src/a%20b.ts', 'a b.ts'),
    text(', please.'),
  );
  expect(prompt).toEqual({
    message: 'Look at @"src/a b.ts", please.',
    blocks: [{ type: 'resource_link', uri: 'file:///project/src/a%20b.ts', name: 'a b.ts' }],
  });
});

test('FR-039-02: a file below the path that the editor uses for the project is a project file', () => {
  expect(read(text('See '), link('file:///linked/a.ts', 'a.ts'))).toEqual({
    message: 'See @a.ts',
    blocks: [{ type: 'resource_link', uri: 'file:///project/a.ts', name: 'a.ts' }],
  });
});

test.each([
  ['to a file outside of the project', 'file:///other/a.ts'],
  ['to a part of a file', 'file:///project/a.ts#L3:9'],
  ['to the project’s folder', 'file:///project/'],
  ['to the web', 'https://a.example/'],
  ['to the web, with the path of a project file', 'https://a.example/project/a.ts'],
  ['to a folder whose name only begins like the project’s', 'file:///projects/a.ts'],
  ['that is not a URL', 'a thing'],
])('FR-039-02: a link %s between words is replaced by its name', (_, uri) => {
  expect(read(text('See '), link(uri, 'it'), text('.'))).toEqual({
    message: 'See it.',
    blocks: [{ type: 'resource_link', uri, name: 'it' }],
  });
});

test('FR-039-02: a link at the start of a prompt is written into the text', () => {
  const { message } = read(link('file:///project/a.ts', 'a.ts'), text(' is broken.'));
  expect(message).toBe('@a.ts is broken.');
});

test('FR-039-02: a link directly after a word becomes only an attachment', () => {
  const { message, blocks } = read(text('See @a.ts.'), link('file:///project/a.ts', 'a.ts'));
  expect(message).toBe('See @a.ts.');
  expect(blocks).toHaveLength(1);
});

test('FR-039-02: the fields of a link are kept', () => {
  const more = { title: 'A', description: 'All of it.', mimeType: 'text/plain', size: 3 };
  const { blocks } = read({ type: 'resource_link', uri: 'https://a.example/', name: 'a', ...more });
  expect(blocks).toEqual([
    { type: 'resource_link', uri: 'https://a.example/', name: 'a', ...more },
  ]);
});

test.each<[string, ContentBlock, unknown]>([
  [
    'an image, named by its URI',
    { type: 'image', mimeType: 'image/png', data: 'AA==', uri: 'file:///a.png' },
    { type: 'image', mimeType: 'image/png', data: 'AA==', name: 'file:///a.png' },
  ],
  [
    'a sound',
    { type: 'audio', mimeType: 'audio/wav', data: 'AA==' },
    { type: 'audio', mimeType: 'audio/wav', data: 'AA==' },
  ],
  [
    'a text file, named by its URI so that agents can find it',
    {
      type: 'resource',
      resource: { uri: 'file:///p/a.ts', text: 'let a;', mimeType: 'text/plain' },
    },
    {
      type: 'resource',
      resource: {
        uri: 'file:///p/a.ts',
        name: 'file:///p/a.ts',
        text: 'let a;',
        mimeType: 'text/plain',
      },
    },
  ],
  [
    'a file without a location, by its name',
    { type: 'resource', resource: { uri: 'attachment:///a%20b', blob: 'AA==' } },
    { type: 'resource', resource: { uri: 'attachment:///a%20b', name: 'a b', blob: 'AA==' } },
  ],
  [
    'a file whose URI is malformed',
    { type: 'resource', resource: { uri: 'attachment:///%E0%A4', blob: 'AA==' } },
    {
      type: 'resource',
      resource: { uri: 'attachment:///%E0%A4', name: 'attachment:///%E0%A4', blob: 'AA==' },
    },
  ],
])('FR-039-02: a prompt may contain %s', (_, block, ours) => {
  expect(read(text('See:'), block)).toEqual({ message: 'See:', blocks: [ours] });
});
