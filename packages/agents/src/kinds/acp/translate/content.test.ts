import { expect, test } from 'vitest';
import { readBlock } from './content.ts';

const image = { type: 'image', mimeType: 'image/png', data: 'AA==' };
const file = { type: 'resource', resource: { uri: 'file:///a', text: 'a' } };

test.each([
  [{ type: 'text', text: 'Hi.' }, { text: 'Hi.' }],
  [{ type: 'text', text: 'Hi.', annotations: null }, { text: 'Hi.' }],
  [
    { type: 'text', text: '', x: 1 },
    { text: '', unread: { x: 1 } },
  ],
  [image, { block: image }],
  [{ ...image, uri: null }, { block: image }],
  [
    { ...image, x: 1 },
    { block: image, unread: { x: 1 } },
  ],
  [{ ...file, resource: { ...file.resource, mimeType: null } }, { block: file }],
  [
    { ...file, resource: { ...file.resource, _meta: { x: null } } },
    { block: file, unread: { resource: { _meta: { x: null } } } },
  ],
])('%j is read as %j', (value, read) => {
  expect(readBlock(value)).toStrictEqual(read);
});

test.each([
  { type: 'text' },
  { text: 'Hi.' },
  { type: 'image' },
  { type: 'hologram', x: null },
  [image],
  7,
])('a value that is not a content block cannot be shown: %j', (value) => {
  expect(readBlock(value)).toStrictEqual({ unread: value });
});
