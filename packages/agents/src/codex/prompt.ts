import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
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

/** The words of a message that Codex has stored. */
export const wordsIn = (content: readonly { type: string; text: string }[]): string =>
  content.flatMap(({ type, text }) => (type === 'text' ? [text] : [])).join('\n');

const dataUrl = /^data:(?<mimeType>image\/[\w.+-]+);base64,(?<data>.*)$/s;

/** The images of a message that Codex has stored: as they were sent, or a link to a file that its terminal was given. */
export function attachedImages(
  content: readonly { type: string; url?: unknown; path?: unknown }[],
): ContentBlock[] {
  return content.flatMap(({ type, url, path }): ContentBlock[] => {
    if (type === 'localImage' && typeof path === 'string') {
      return [{ type: 'resource_link', uri: pathToFileURL(path).href, name: basename(path) }];
    }
    const { mimeType, data } = (typeof url === 'string' && dataUrl.exec(url)?.groups) || {};
    if (type !== 'image' || mimeType === undefined || data === undefined) return [];
    return [{ type: 'image', mimeType, data }];
  });
}
