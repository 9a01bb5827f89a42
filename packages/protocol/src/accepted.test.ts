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

describe('what an agent takes', () => {
  test.each<[string, ContentBlock]>([
    ['an image of a kind that it names', png],
    ['a link, always', link],
    ['a file by the beginning of its type', file('text/markdown', { blob: 'AA==' })],
    ['a file by its whole type', file('application/pdf', { blob: 'AA==' })],
    ['any file that is text', file('application/json', { text: '{}' })],
  ])('is %s', (_, block) => {
    expect(whyNotAccepted('Agent', some, [block])).toBeUndefined();
  });

  test.each<[string, AcceptedContent, ContentBlock, string]>([
    [
      'an image',
      some,
      { type: 'image', mimeType: 'image/tiff', data: 'AA==' },
      'Agent takes no such images, only image/png, image/jpeg. Take image/tiff out of the message.',
    ],
    [
      'audio',
      some,
      { type: 'audio', mimeType: 'audio/wav', data: 'AA==', name: 'voice.wav' },
      'Agent takes no such audio. Take “voice.wav” (audio/wav) out of the message.',
    ],
    [
      'a file without a type',
      some,
      file(undefined, { blob: 'AA==' }),
      'Agent takes no such files, only text/*, application/pdf. Take application/octet-stream out of the message.',
    ],
    [
      'a file whose type only begins alike',
      some,
      file('application/pdfx', { blob: 'AA==' }),
      'Agent takes no such files, only text/*, application/pdf. Take application/pdfx out of the message.',
    ],
    [
      'anything, where it takes only text',
      { image: [], audio: [], resource: [] },
      png,
      'Agent takes no such images. Take image/png out of the message.',
    ],
  ])('is not %s, and a sentence says what to do', (_, accepts, block, sentence) => {
    expect(whyNotAccepted('Agent', accepts, [link, block])).toBe(sentence);
  });
});
