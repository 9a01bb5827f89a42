import { maxItemSize } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { pictureOf, readParts } from './parts.ts';
import { resultOf } from './tools.ts';

const png = 'iVBORw0KGgo=';
const image = { type: 'image', mimeType: 'image/png', data: png };
const url = `data:image/png;base64,${png}`;
/** Base64 text of this length that begins like a PNG. */
const large = (length: number) => png.slice(0, 8).padEnd(length, 'A');

test.each([
  ['an MCP server', [{ type: 'text', text: 'One' }, image, { type: 'text', text: 'two' }]],
  [
    'a client’s tool',
    [
      { type: 'inputText', text: 'One\ntwo' },
      { type: 'inputImage', imageUrl: url },
    ],
  ],
  [
    'the model’s service',
    [
      { type: 'input_text', text: 'One\ntwo' },
      { type: 'input_image', image_url: url },
    ],
  ],
])('the texts of %s are joined, and its images are separate blocks', (_who, parts) => {
  expect(readParts(parts)).toEqual({ output: 'One\ntwo', blocks: [image] });
});

test('sounds, files and links are separate blocks', () => {
  const audio = { type: 'audio', mimeType: 'audio/wav', data: 'UklGRg==' };
  const file = { type: 'resource', resource: { uri: 'notes://1', text: 'A note.' } };
  const link = { type: 'resource_link', uri: 'https://example.org/', name: 'Example' };
  const sound = { type: 'inputAudio', audioUrl: 'data:audio/wav;base64,UklGRg==' };
  const far = { type: 'inputImage', imageUrl: 'https://example.org/a.png' };
  expect(readParts([audio, file, link, sound, far])).toEqual({
    output: '',
    blocks: [
      audio,
      file,
      link,
      audio,
      { type: 'resource_link', uri: far.imageUrl, name: far.imageUrl },
    ],
  });
});

test.each([
  [{ type: 'image', mimeType: 'image/png', data: 'no base64' }],
  [{ type: 'image', mimeType: 'image/png', data: '' }],
  [{ type: 'image' }],
  [{ type: 'inputImage', imageUrl: 'data:application/pdf;base64,AAAA' }],
  [{ type: 'hologram', depth: 3 }],
  [7],
])('SAFE: %j, which cannot be shown, becomes JSON text', (part) => {
  expect(readParts([part])).toEqual({ output: JSON.stringify(part) });
});

test('SAFE: an image is shown whole, or reported as too large', () => {
  const half = { ...image, data: large(maxItemSize / 2) };
  expect(readParts([half, half, image])).toEqual({
    output: 'A part of type image is too large to be shown.',
    blocks: [half, image],
  });
  expect(readParts([{ ...image, data: large(maxItemSize) }]).blocks).toBeUndefined();
});

test('an image that Codex has made is shown, or, if it cannot be shown, is a link to its file', () => {
  const made = (fields: object) =>
    resultOf({ type: 'imageGeneration', id: 'a', status: 'completed', ...fields });
  const savedPath = '/home/user/a b.png';
  const link = { type: 'resource_link', uri: 'file:///home/user/a%20b.png', name: 'a b.png' };
  expect(made({ result: png, savedPath })).toEqual({
    output: savedPath,
    success: true,
    blocks: [{ ...image, name: 'a b.png' }],
  });
  expect(made({ result: png })).toEqual({ output: '', success: true, blocks: [image] });
  expect(made({ result: large(maxItemSize), savedPath }).blocks).toEqual([link]);
  expect(made({ result: 'AAAA', savedPath }).blocks).toEqual([link]);
  expect(made({ fileId: 'file_1', savedPath }).blocks).toEqual([link]);
  expect(made({ result: '' })).toEqual({ output: '', success: true });
  const failure = { type: 'usageLimitExceeded', limitId: 'images', resetsAt: null };
  expect(made({ failure, result: '' })).toEqual({
    output: JSON.stringify(failure),
    success: false,
  });
});

test('SAFE: a path that is not absolute on this system does not become a link', () => {
  expect(pictureOf('C:\\pictures\\a.png', undefined)).toEqual({});
  expect(pictureOf('', png)).toEqual({ blocks: [image] });
});

test('the structured result of an MCP server is shown only if its content is empty', () => {
  const output = (content: unknown[], structuredContent: unknown) =>
    resultOf({
      type: 'mcpToolCall',
      id: 'a',
      server: 'own',
      tool: 'count',
      status: 'completed',
      result: { content, structuredContent },
    }).output;
  expect(output([], { count: 3 })).toBe('{"count":3}');
  expect(output([{ type: 'text', text: 'Three.' }], { count: 3 })).toBe('Three.');
  expect(output([], null)).toBe('');
});
