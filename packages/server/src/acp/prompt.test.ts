import type { ContentBlock } from '@agentclientprotocol/sdk';
import { expect, test } from 'vitest';
import { readPrompt } from './prompt.ts';

const text = (words: string): ContentBlock => ({ type: 'text', text: words });
const link = (uri: string, name: string): ContentBlock => ({ type: 'resource_link', uri, name });
const read = (...prompt: ContentBlock[]) =>
  readPrompt(prompt, { cwd: '/linked', projectDir: '/project' });

test('FR-039-02: a file of the project between words is mentioned, as in any other message', () => {
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

test('FR-039-02: a file by the path that the editor has for the project is the project’s', () => {
  expect(read(text('See '), link('file:///linked/a.ts', 'a.ts'))).toEqual({
    message: 'See @a.ts',
    blocks: [{ type: 'resource_link', uri: 'file:///project/a.ts', name: 'a.ts' }],
  });
});

test.each([
  ['elsewhere on the disk', 'file:///other/a.ts'],
  ['that is only a part of a file', 'file:///project/a.ts#L3:9'],
  ['on the web', 'https://a.example/'],
  ['whose folder only begins like the project’s', 'file:///projects/a.ts'],
  ['that is no address', 'a thing'],
])('FR-039-02: a link %s stands between words by its name', (_, uri) => {
  expect(read(text('See '), link(uri, 'it'), text('.'))).toEqual({
    message: 'See it.',
    blocks: [{ type: 'resource_link', uri, name: 'it' }],
  });
});

test('FR-039-02: a link right behind a word is an attachment: the words have said all', () => {
  const { message, blocks } = read(text('See @a.ts.'), link('file:///project/a.ts', 'a.ts'));
  expect(message).toBe('See @a.ts.');
  expect(blocks).toHaveLength(1);
});

test('FR-039-02: what a link says of itself is kept', () => {
  const more = { title: 'A', description: 'All of it.', mimeType: 'text/plain', size: 3 };
  const { blocks } = read({ type: 'resource_link', uri: 'https://a.example/', name: 'a', ...more });
  expect(blocks).toEqual([
    { type: 'resource_link', uri: 'https://a.example/', name: 'a', ...more },
  ]);
});

test.each<[string, ContentBlock, unknown]>([
  [
    'an image, with its address as its name',
    { type: 'image', mimeType: 'image/png', data: 'AA==', uri: 'file:///a.png' },
    { type: 'image', mimeType: 'image/png', data: 'AA==', name: 'file:///a.png' },
  ],
  [
    'a sound',
    { type: 'audio', mimeType: 'audio/wav', data: 'AA==' },
    { type: 'audio', mimeType: 'audio/wav', data: 'AA==' },
  ],
  [
    'a text file, with its address as its name: agents must find it',
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
    'a file that lies nowhere, by its name',
    { type: 'resource', resource: { uri: 'attachment:///a%20b', blob: 'AA==' } },
    { type: 'resource', resource: { uri: 'attachment:///a%20b', name: 'a b', blob: 'AA==' } },
  ],
  [
    'a file whose address is not well made',
    { type: 'resource', resource: { uri: 'attachment:///%E0%A4', blob: 'AA==' } },
    {
      type: 'resource',
      resource: { uri: 'attachment:///%E0%A4', name: 'attachment:///%E0%A4', blob: 'AA==' },
    },
  ],
])('FR-039-02: a prompt may have %s', (_, block, ours) => {
  expect(read(text('See:'), block)).toEqual({ message: 'See:', blocks: [ours] });
});
