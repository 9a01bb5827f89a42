import { expect, test } from 'vitest';
import { attachedImages, inputOf } from './prompt.ts';

const image = { type: 'image', mimeType: 'image/png', data: 'iVBORw==' } as const;
const text = (words: string) => ({ type: 'text', text: words, text_elements: [] });

test('words are one text, even if there are none', () => {
  expect(inputOf('Hello', [])).toEqual([text('Hello')]);
  expect(inputOf('', [])).toEqual([text('')]);
});

test('images come after the words, or alone, with their bytes as they are', () => {
  const url = 'data:image/png;base64,iVBORw==';
  expect(inputOf('What?', [image])).toEqual([text('What?'), { type: 'image', url }]);
  expect(inputOf('', [image])).toEqual([{ type: 'image', url }]);
});

test('files and links are put into words', () => {
  const resource = { uri: 'blob:1', name: 'notes.md', mimeType: 'text/markdown', text: '# Notes' };
  expect(
    inputOf('Read.', [
      { type: 'resource', resource },
      { type: 'resource_link', uri: 'file:///code/a.ts', name: 'a.ts' },
    ]),
  ).toEqual([text('Read.\n\n<file name="notes.md">\n# Notes\n</file>\n\n/code/a.ts')]);
});

test('images of a stored message come back, those that are elsewhere as links', () => {
  const web = 'https://example.org/a.png';
  const stored = [
    ...inputOf('What?', [image]),
    { type: 'localImage', path: '/tmp/a b.png' },
    { type: 'image', url: web },
    { type: 'image', url: 'data:text/plain;base64,YQ==' },
  ] as { type: string }[];
  expect(attachedImages(stored)).toEqual([
    image,
    { type: 'resource_link', uri: 'file:///tmp/a%20b.png', name: 'a b.png' },
    { type: 'resource_link', uri: web, name: web },
  ]);
});
