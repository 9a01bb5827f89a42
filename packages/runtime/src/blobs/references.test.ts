import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { blobUri, type ContentBlock } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { bytesIn, referTo, withBytes } from './references.ts';

const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

test('bytes of any block are restored unchanged', () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 200 });
  const name = fc.option(fc.string({ minLength: 1 }), { nil: undefined });
  fc.assert(
    fc.property(bytes, name, fc.constantFrom('image', 'audio', 'file'), (data, called, kind) => {
      const named = called === undefined || called.startsWith('blob:') ? {} : { name: called };
      const block: ContentBlock =
        kind === 'file'
          ? {
              type: 'resource',
              resource: { uri: 'a/b', mimeType: 'application/zip', blob: base64(data), ...named },
            }
          : { type: kind as 'image', mimeType: `${kind}/x`, data: base64(data), ...named };
      const { block: reference, found } = referTo(block);
      expect(found?.hash).toBe(sha(data));
      expect(JSON.stringify(reference)).not.toContain(base64(data).slice(0, 40) + '"');
      const again = bytesIn(withBytes(reference, found!.bytes));
      expect(Buffer.from(data).equals(again!.bytes)).toBe(true);
    }),
  );
});

test('a text file is stored as bytes, and its address becomes its name; it is restored as text', () => {
  const resource = { uri: 'file:///a.md', mimeType: 'text/markdown', text: '\uFEFF# Ä' };
  const { block, found } = referTo({ type: 'resource', resource });
  expect(block).toEqual({
    type: 'resource',
    resource: {
      uri: blobUri(found!.hash),
      mimeType: 'text/markdown',
      size: 7,
      name: 'file:///a.md',
    },
  });
  expect(withBytes(block, found!.bytes)).toMatchObject({
    resource: { uri: 'file:///a.md', text: '\uFEFF# Ä' },
  });
});

test.each<[string, ContentBlock]>([
  ['a link', { type: 'resource_link', uri: 'file:///a', name: 'a' }],
  ['data that is not base64', { type: 'image', mimeType: 'image/png', data: 'not base64!' }],
  ['an empty image', { type: 'image', mimeType: 'image/png', data: '' }],
  ['only an address', { type: 'image', mimeType: 'image/png', uri: 'https://example.org/a.png' }],
  ['an empty text', { type: 'resource', resource: { uri: 'a', text: '' } }],
  ['half a character', { type: 'resource', resource: { uri: 'a', text: 'x\uD800' } }],
])('%s stays in the block, so that nothing is lost or changed', (_, block) => {
  expect(referTo(block)).toEqual({ block });
});
