import { expect, test } from 'vitest';
import { acpPrompt } from './prompt.ts';

const image = { type: 'image', mimeType: 'image/png', data: 'iVBORw==', name: 'a.png' } as const;

test('a text becomes a text block; an empty text is left out if there are other blocks', () => {
  expect(acpPrompt('Hello', [])).toEqual([{ type: 'text', text: 'Hello' }]);
  expect(acpPrompt('', [])).toEqual([{ type: 'text', text: '' }]);
});

test('images and audio have only the fields that ACP defines', () => {
  const sent = { type: 'image', mimeType: 'image/png', data: 'iVBORw==' };
  expect(acpPrompt('', [image])).toEqual([sent]);
  expect(acpPrompt('Look', [image])).toEqual([{ type: 'text', text: 'Look' }, sent]);
});

test('an embedded file keeps its own URL, or gets a URI that is not a file URI', () => {
  const file = (resource: object) =>
    acpPrompt('', [{ type: 'resource', resource: { uri: 'blob:1', ...resource } }]);
  expect(file({ name: 'a b.md', mimeType: 'text/markdown', text: '# A' })).toEqual([
    {
      type: 'resource',
      resource: { uri: 'attachment:///a%20b.md', mimeType: 'text/markdown', text: '# A' },
    },
  ]);
  expect(file({ name: 'https://example.org/a', blob: 'AA==' })).toEqual([
    { type: 'resource', resource: { uri: 'https://example.org/a', blob: 'AA==' } },
  ]);
});

test('a link is sent unchanged', () => {
  const link = { type: 'resource_link', uri: 'file:///code/a.ts', name: 'a.ts' } as const;
  expect(acpPrompt('Read', [link])).toEqual([{ type: 'text', text: 'Read' }, link]);
});
