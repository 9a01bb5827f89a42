import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AcceptedContent, ContentBlock } from '@liminal/protocol';
import { commonImages, fileAsText, joinWords, linkAsText } from '../../base/accepted-content.ts';

export const accepted: AcceptedContent = { image: commonImages, audio: [], resource: ['text/*'] };

/** Returns a user message as Codex' input. */
export function codexInput(text: string, blocks: readonly ContentBlock[]): object[] {
  const more = blocks.flatMap((block) => {
    if (block.type === 'resource') return fileAsText(block.resource);
    return block.type === 'resource_link' ? linkAsText(block) : [];
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

/** Returns the text of a message in Codex' store. */
export const inputText = (content: readonly { type: string; text: string }[]): string =>
  content.flatMap(({ type, text }) => (type === 'text' ? [text] : [])).join('\n');

const dataUrl = /^data:(?<mimeType>(?<kind>image|audio)\/[\w.+-]+);base64,(?<data>.*)$/s;

/** Returns the image or sound that a data URL contains, undefined for other data URLs, and a link for any other URL. */
export function blockOfUrl(url: string): ContentBlock | undefined {
  const { kind, mimeType = '', data = '' } = dataUrl.exec(url)?.groups ?? {};
  if (kind === 'image' || kind === 'audio') return { type: kind, mimeType, data };
  return url.startsWith('data:') ? undefined : { type: 'resource_link', uri: url, name: url };
}

/**
 * Returns the images of a message in Codex' store. An image that is stored elsewhere becomes a link, for example to a
 * file that a person gave Codex' terminal.
 */
export function attachedImages(
  content: readonly { type: string; url?: unknown; path?: unknown }[],
): ContentBlock[] {
  return content.flatMap(({ type, url, path }): ContentBlock[] => {
    if (type === 'localImage' && typeof path === 'string') {
      return [{ type: 'resource_link', uri: pathToFileURL(path).href, name: basename(path) }];
    }
    const image = type === 'image' && typeof url === 'string' ? blockOfUrl(url) : undefined;
    return image === undefined ? [] : [image];
  });
}
