import { expect, test } from 'vitest';
import { attachedImages, codexInput } from './prompt.ts';

const image = { type: 'image', mimeType: 'image/png', data: 'iVBORw==' } as const;
const text = (words: string) => ({ type: 'text', text: words, text_elements: [] });

test('the text of a message is sent as one text, even if the text is empty', () => {
  expect(codexInput('Hello', [])).toEqual([text('Hello')]);
  expect(codexInput('', [])).toEqual([text('')]);
});

test('images follow the message’s text, or are sent alone, with unchanged bytes', () => {
  const url = 'data:image/png;base64,iVBORw==';
  expect(codexInput('What?', [image])).toEqual([text('What?'), { type: 'image', url }]);
  expect(codexInput('', [image])).toEqual([{ type: 'image', url }]);
});

test('files and links become text in the message', () => {
  const resource = { uri: 'blob:1', name: 'notes.md', mimeType: 'text/markdown', text: '# Notes' };
  expect(
    codexInput('Read.', [
      { type: 'resource', resource },
      { type: 'resource_link', uri: 'file:///code/a.ts', name: 'a.ts' },
    ]),
  ).toEqual([text('Read.\n\n<file name="notes.md">\n# Notes\n</file>\n\n/code/a.ts')]);
});

test('the images of a stored message are returned; images that are stored elsewhere become links', () => {
  const web = 'https://example.org/a.png';
  const stored = [
    ...codexInput('What?', [image]),
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
