import { crc32 } from 'node:zlib';
import type { ContentBlock, OutputItem } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { bytesOf, wellFormed, withBlocks, withoutBytes, withSendableFiles } from './sendable.ts';

const base64 = (...parts: (string | Uint8Array)[]): string =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string, 'latin1'))).toString('base64');

/** A 32-bit number, big-endian. */
function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A chunk of a PNG; `sum` replaces the correct checksum. */
function chunk(name: string, data: Buffer, sum?: number): Buffer {
  const named = Buffer.concat([Buffer.from(name), data]);
  return Buffer.concat([word(data.length), named, word(sum ?? crc32(named))]);
}

const signature = Buffer.from('89504e470d0a1a0a', 'hex');
const header = (width = 1, height = 1) =>
  chunk('IHDR', Buffer.concat([word(width), word(height), Buffer.from('0806000000', 'hex')]));
const drawn = chunk('IDAT', Buffer.from('789c6360000000020001', 'hex'));
const end = chunk('IEND', Buffer.alloc(0));
const png = (...chunks: Buffer[]): string => base64(signature, ...chunks);
const whole = png(header(), drawn, end);

/** A 32-bit little-endian number, as in GIF and WebP. */
function littleWord(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

const gif = (size: number, rest: string): string => base64('GIF89a', littleWord(size), rest);
const webp = (size: number, length: number): string =>
  base64('RIFF', littleWord(size), 'WEBPVP8 ', Buffer.alloc(length - 16));
const jpeg = (length: number, rest = '\xff\xd9'): string =>
  base64('\xff\xd8\xff\xe0', Buffer.alloc(length - 4 - rest.length), rest);

/** The block in the form that a model server gets. */
function sent(block: ContentBlock): ContentBlock | undefined {
  const item: OutputItem = {
    type: 'message',
    id: 'a',
    content: '',
    origin: 'user',
    blocks: [block],
  };
  const changed = withSendableFiles(item);
  return changed.type === 'message' ? changed.blocks?.[0] : undefined;
}

const image = (data: string, mimeType = 'image/png'): ContentBlock => ({
  type: 'image',
  data,
  mimeType,
});
const audio = (data: string, mimeType: string): ContentBlock => ({ type: 'audio', data, mimeType });
const file = (blob: string, mimeType?: string): ContentBlock => ({
  type: 'resource',
  resource: { uri: 'file:///a', blob, ...(mimeType !== undefined && { mimeType }) },
});

test.each<[string, ContentBlock]>([
  ['a PNG', image(whole)],
  ['a PNG with more chunks', image(png(header(), chunk('tEXt', Buffer.from('a')), drawn, end))],
  ['a PNG with more after its end', image(png(header(), drawn, end, Buffer.from('more')))],
  ['a GIF', image(gif(1, '\0\0\0a;'), 'image/gif')],
  ['a JPEG', image(jpeg(101), 'image/jpeg')],
  ['a JPEG with more after its end', image(jpeg(110, '\xff\xd9more'), 'image/jpeg')],
  ['a WebP', image(webp(22, 30), 'image/webp')],
  ['a WebP with more after its end', image(webp(22, 31), 'image/webp')],
  ['a PDF', file(base64('%PDF-1.7'), 'application/pdf')],
  ['a PDF that begins late', file(base64(' '.repeat(1_019), '%PDF-'), 'application/pdf')],
  ['a file of another type', file(base64('anything'), 'application/zip')],
  ['a file without a type', file(base64('anything'))],
  ['a WAV', audio(base64('RIFF\0\0\0\0WAVEmore'), 'audio/wav')],
  ['the beginning of a WAV', audio(base64('RIFF\0\0'), 'audio/wav')],
  ['an MP3 that begins with a frame', audio(base64('\xff\xfbmore'), 'audio/mpeg')],
  ['an MP3 that begins with a tag', audio(base64('ID3more'), 'audio/mpeg')],
])('%s is sent as it is', (_, block) => {
  expect(sent(block)).toBe(block);
});

test.each<[string, ContentBlock]>([
  ['a file that is not an image', image(base64('anything at all'))],
  ['a PNG that is cut off', image(png(header(), drawn))],
  ['a PNG whose last chunk is cut off', image(png(header(), drawn, end.subarray(0, 11)))],
  ['a PNG whose chunk is longer than the file', image(png(header(), word(99), drawn, end))],
  ['a PNG whose checksum is wrong', image(png(header(), chunk('IDAT', Buffer.from('a'), 1), end))],
  ['a PNG without a picture', image(png(header(), chunk('tEXt', Buffer.alloc(20)), end))],
  ['a PNG without a width', image(png(header(0), drawn, end))],
  ['a PNG without a height', image(png(header(1, 0), drawn, end))],
  ['a PNG that begins with another chunk', image(png(chunk('tEXt', Buffer.alloc(13)), drawn, end))],
  ['a PNG that is too short', image(png(header(), end))],
  ['a GIF that is cut off', image(gif(1, '\0\0\0a'), 'image/gif')],
  ['a GIF without a size', image(gif(0, '\0\0\0a;'), 'image/gif')],
  ['a GIF that is only a header', image(gif(1, '\0\0;'), 'image/gif')],
  ['a GIF whose end is in its header', image(gif(1, ';\0\0a'), 'image/gif')],
  ['a JPEG that is cut off', image(jpeg(200, 'more'), 'image/jpeg')],
  ['a JPEG that is too short', image(jpeg(100), 'image/jpeg')],
  ['a WebP that is cut off', image(webp(23, 30), 'image/webp')],
  ['a WebP that is too short', image(webp(21, 29), 'image/webp')],
  ['a PDF without its beginning', file(base64('PDF'), 'application/pdf')],
  ['a PDF that begins too late', file(base64(' '.repeat(1_020), '%PDF-'), 'application/pdf')],
  ['a WAV of another kind', audio(base64('RIFF\0\0\0\0AVI more'), 'audio/wav')],
  ['a file that is not a WAV', audio(base64('anything'), 'audio/wav')],
  ['a file that is not an MP3', audio(base64('\xff\x1fmore'), 'audio/mpeg')],
  ['an MP3 of one byte', audio(base64('\xff'), 'audio/mpeg')],
  ['a file that only ends like a frame', audio(base64('a\xfb'), 'audio/mpeg')],
])('%s is sent without its bytes', (_, block) => {
  expect(sent(block)).toEqual(withoutBytes(block));
});

test('an image with a wrong type is sent with its correct type', () => {
  expect(sent(image(whole, 'image/jpeg'))).toEqual(image(whole, 'image/png'));
  expect(sent(file(whole, 'image/webp'))).toEqual(file(whole, 'image/png'));
});

test('an image is sent without its bytes if few models accept its type', () => {
  const bmp = image(base64('BM', Buffer.alloc(100)), 'image/png');
  expect(sent(bmp)).toEqual(withoutBytes(bmp));
});

test('bytes in the URL-safe base64 alphabet are sent in the standard alphabet', () => {
  const other = whole.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  expect(other).not.toBe(whole);
  expect(sent(image(other))).toEqual(image(whole));
});

test('a file is checked only once', () => {
  const block = image(whole, 'image/jpeg');
  const first = sent(block);
  expect(first).not.toBe(block);
  expect(sent(block)).toBe(first);
});

test.each<[string, ContentBlock]>([
  ['an image that was sent before', image('')],
  ['a link', { type: 'resource_link', uri: 'file:///a', name: 'a' }],
  ['a resource of text', { type: 'resource', resource: { uri: 'file:///a', text: 'a' } }],
])('%s has no bytes, and is sent as it is', (_, block) => {
  expect(bytesOf(block)).toBeUndefined();
  expect(sent(block)).toBe(block);
});

test('a block that is sent without its bytes keeps its other fields', () => {
  expect(withoutBytes(image(whole))).toEqual({ ...image(whole), data: undefined });
  expect(withoutBytes(audio('a', 'audio/wav'))).toEqual({
    ...audio('a', 'audio/wav'),
    data: undefined,
  });
  expect(withoutBytes(file('a', 'b'))).toEqual({
    type: 'resource',
    resource: { uri: 'file:///a', mimeType: 'b', blob: undefined },
  });
  const link: ContentBlock = { type: 'resource_link', uri: 'file:///a', name: 'a' };
  expect(withoutBytes(link)).toBe(link);
  expect(bytesOf(file('abcd'))).toBe('abcd');
  expect(bytesOf(audio('abcd', 'audio/wav'))).toBe('abcd');
});

test('only messages and outputs have files, and an item without changes is returned as the same object', () => {
  const call = { type: 'function_call', id: 'a', name: 'b', arguments: '{}' } as OutputItem;
  const never = (): ContentBlock => expect.fail('It has no blocks.');
  expect(withBlocks(call, never)).toBe(call);
  const message: OutputItem = { type: 'message', id: 'a', content: 'b', origin: 'user' };
  expect(withBlocks(message, never)).toBe(message);
  const [one, two] = [image(whole), image('')];
  const output = {
    type: 'function_call_output',
    id: 'a',
    callId: 'b',
    output: 'c',
    blocks: [one, two],
  } as OutputItem;
  expect(withBlocks(output, (block) => block)).toBe(output);
  const changed = withBlocks(output, (block) => (block === two ? one : block));
  expect(changed).toEqual({ ...output, blocks: [one, one] });
});

test('each lone surrogate in a value is replaced: in names, lists and texts', () => {
  const lone = 'a\ud800';
  expect(wellFormed(lone)).toBe('a\ufffd');
  expect(wellFormed({ [lone]: 1, list: [lone, 2, null], deep: { text: lone } })).toEqual({
    'a\ufffd': 1,
    list: ['a\ufffd', 2, null],
    deep: { text: 'a\ufffd' },
  });
});

test.each([[{ a: ['b', 1, null, true, { c: '😀' }] }], ['b'], [null], [7], [undefined], [[]]])(
  'a value without lone surrogates is returned as the same value: %j',
  (value) => {
    expect(wellFormed(value)).toBe(value);
  },
);
