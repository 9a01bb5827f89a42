import type { ContentBlock } from '@liminal/protocol';
import { z } from 'zod';

const Bytes = z.looseObject({
  type: z.literal('base64'),
  media_type: z.string(),
  data: z.string(),
});
const Text = z.looseObject({ type: z.literal('text'), media_type: z.string(), data: z.string() });

const Attached = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('image'), source: Bytes }),
  z.looseObject({
    type: z.literal('document'),
    title: z.string().nullish(),
    source: z.discriminatedUnion('type', [Bytes, Text]),
  }),
]);

/** The images and files of a message that Claude Code has stored, without its other parts. */
export function attachedFiles(parts: readonly unknown[]): ContentBlock[] {
  return parts.flatMap((part): ContentBlock[] => {
    const read = Attached.safeParse(part).data;
    if (read === undefined) return [];
    const { data, media_type: mimeType } = read.source;
    if (read.type === 'image') return [{ type: 'image', mimeType, data }];
    const name = read.title ?? 'Document';
    const content = read.source.type === 'text' ? { text: data } : { blob: data };
    return [{ type: 'resource', resource: { uri: name, name, mimeType, ...content } }];
  });
}
