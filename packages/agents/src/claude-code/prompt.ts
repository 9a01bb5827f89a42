import type { SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';
import type { AcceptedContent, ContentBlock } from '@liminal/protocol';
import { commonImages, joinWords, linkedPath, linkInWords } from '../base/accepted-content.ts';

type Content = SDKUserMessage['message']['content'];
type Part = Exclude<Content, string>[number];

export const accepted: AcceptedContent = {
  image: commonImages,
  audio: [],
  resource: ['text/*', 'application/pdf'],
};

/**
 * A user message as Claude Code reads it. The words come last: only there does it look for commands and for the files
 * that are mentioned.
 */
export function promptOf(text: string, blocks: readonly ContentBlock[]): Content {
  const links = blocks.filter((block) => block.type === 'resource_link');
  const mentions = links.map((link) => {
    const path = linkedPath(link);
    return path === undefined ? linkInWords(link) : mention(path);
  });
  const words = joinWords(text, mentions);
  const parts = blocks.flatMap((block): Part[] => partOf(block) ?? []);
  if (parts.length === 0) return words;
  return words === '' ? parts : [...parts, { type: 'text', text: words }];
}

/** Claude Code reads a file that is mentioned, as it does in its own terminal. */
const mention = (path: string): string => (/\s/.test(path) ? `@"${path}"` : `@${path}`);

function partOf(block: ContentBlock): Part[] | undefined {
  if (block.type === 'image') {
    const { mimeType, data = '' } = block;
    // The types that are accepted are those of the API.
    const media_type = mimeType as 'image/png';
    return [{ type: 'image', source: { type: 'base64', media_type, data } }];
  }
  if (block.type !== 'resource') return undefined;
  const { uri, name: title = uri, text, blob = '' } = block.resource;
  const source =
    text === undefined
      ? { type: 'base64' as const, media_type: 'application/pdf' as const, data: blob }
      : { type: 'text' as const, media_type: 'text/plain' as const, data: text };
  return [{ type: 'document', title, source }];
}
