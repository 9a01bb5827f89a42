import { blobMax, blocksMax, type ContentBlock } from '@liminal/protocol';
import { describe, expect, it } from 'vitest';
import { whyNotSent } from './why-not-sent.ts';

const MiB = 1024 * 1024;
const image = (size: number): ContentBlock => ({
  type: 'image',
  mimeType: 'image/png',
  uri: 'local:1',
  name: 'a.png',
  size,
});
const accepts = { image: ['image/png'], audio: [], resource: [] };
const agent = { name: 'Agent', accepts };

describe('an attachment', () => {
  it('an attachment can be sent if the agent accepts its type, or has not reported types yet', () => {
    const pdf: ContentBlock = {
      type: 'resource',
      resource: { uri: 'local:2', mimeType: 'application/pdf', name: 'a.pdf', size: 9 },
    };
    const [first, second] = whyNotSent([image(1), pdf], agent);
    expect(first).toBeUndefined();
    expect(second).toBe(
      'Agent does not accept such files. Remove “a.pdf” (application/pdf) from the message.',
    );
    expect(whyNotSent([pdf], { name: 'Agent', accepts: undefined })).toEqual([undefined]);
  });

  it('attachments beyond the limit for the number of files cannot be sent', () => {
    const why = whyNotSent(
      Array.from({ length: blocksMax + 1 }, () => image(1)),
      agent,
    );
    expect(why.slice(0, blocksMax)).toEqual(Array.from({ length: blocksMax }));
    expect(why[blocksMax]).toMatch(/^20 attachments at most/);
  });

  it('an attachment cannot be sent if it is empty, too large by itself, or too large together with the others', () => {
    const sizes = [0, blobMax, blobMax + 1, 9 * MiB, 2 * MiB];
    expect(whyNotSent(sizes.map(image), agent)).toEqual([
      'This file is empty. Remove it.',
      undefined,
      expect.stringMatching(/^The file has 20 MiB/),
      undefined,
      expect.stringMatching(/^What is attached to the message has 31 MiB, but the limit is 30/),
    ]);
  });

  it('an attachment without a size, such as a link, can be sent', () => {
    const link = { type: 'resource_link', uri: 'file:///a', name: 'a' } as const;
    expect(whyNotSent([link], agent)).toEqual([undefined]);
  });
});
