import type { AcceptedContent, ContentBlock } from '@liminal/protocol';
import { commonImages, fileInWords, joinWords, linkInWords } from '../base/accepted-content.ts';

export const accepted: AcceptedContent = { image: commonImages, audio: [], resource: ['text/*'] };

/** A user message as Codex' input. */
export function inputOf(text: string, blocks: readonly ContentBlock[]): object[] {
  const more = blocks.flatMap((block) => {
    if (block.type === 'resource') return fileInWords(block.resource);
    return block.type === 'resource_link' ? linkInWords(block) : [];
  });
  const words = joinWords(text, more);
  const images = blocks.flatMap((block) =>
    block.type === 'image'
      ? { type: 'image', url: `data:${block.mimeType};base64,${block.data ?? ''}` }
      : [],
  );
  if (words === '' && images.length > 0) return images;
  return [{ type: 'text', text: words, text_elements: [] }, ...images];
}
