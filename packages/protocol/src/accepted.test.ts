import { describe, expect, test } from 'vitest';
import { whyNotAccepted } from './accepted.ts';
import type { ContentBlock } from './content.ts';
import type { AcceptedContent } from './sessions.ts';

const png: ContentBlock = { type: 'image', mimeType: 'image/png', data: 'AA==' };
const link = { type: 'resource_link', uri: 'file:///code/a%20b.ts', name: 'a b.ts' } as const;
const file = (mimeType: string | undefined, content: object): ContentBlock => ({
  type: 'resource',
  resource: { uri: 'notes', ...(mimeType !== undefined && { mimeType }), ...content },
});
const some: AcceptedContent = {
  image: ['image/png', 'image/jpeg'],
  audio: [],
  resource: ['text/*', 'application/pdf'],
};

describe('content that an agent accepts', () => {
  test.each<[string, ContentBlock]>([
    ['an image of an accepted type', png],
    ['a link, always', link],
    ['a file that matches a type’s prefix', file('text/markdown', { blob: 'AA==' })],
    ['a file of an accepted type', file('application/pdf', { blob: 'AA==' })],
    ['any file with text content', file('application/json', { text: '{}' })],
  ])('includes %s', (_, block) => {
    expect(whyNotAccepted('Agent', some, [block])).toBeUndefined();
  });

  test.each<[string, AcceptedContent, ContentBlock, string]>([
    [
      'an image',
      some,
      { type: 'image', mimeType: 'image/tiff', data: 'AA==' },
      'Agent does not accept such images, only image/png, image/jpeg. Remove image/tiff from the message.',
    ],
    [
      'audio',
      some,
      { type: 'audio', mimeType: 'audio/wav', data: 'AA==', name: 'voice.wav' },
      'Agent does not accept such audio. Remove “voice.wav” (audio/wav) from the message.',
    ],
    [
      'a file without a type',
      some,
      file(undefined, { blob: 'AA==' }),
      'Agent does not accept such files, only text/*, application/pdf. Remove application/octet-stream from the message.',
    ],
    [
      'a file whose type only begins with an accepted one',
      some,
      file('application/pdfx', { blob: 'AA==' }),
      'Agent does not accept such files, only text/*, application/pdf. Remove application/pdfx from the message.',
    ],
    [
      'an image, if the agent accepts only text',
      { image: [], audio: [], resource: [] },
      png,
      'Agent does not accept such images. Remove image/png from the message.',
    ],
  ])('does not include %s, and the error says what to do', (_, accepts, block, sentence) => {
    expect(whyNotAccepted('Agent', accepts, [link, block])).toBe(sentence);
  });
});
