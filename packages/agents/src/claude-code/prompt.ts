import type { SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';
import {
  type AcceptedContent,
  type ContentBlock,
  linkedMentions,
  mentionOf,
  mentionsIn,
} from '@liminal/protocol';
import { commonImages, joinWords, linkedPath, linkInWords } from '../base/accepted-content.ts';

type Content = SDKUserMessage['message']['content'];
type Link = Extract<ContentBlock, { type: 'resource_link' }>;
type Part = Exclude<Content, string>[number];

export const accepted: AcceptedContent = {
  image: commonImages,
  audio: [],
  resource: ['text/*', 'application/pdf'],
};

/**
 * A user message as Claude Code reads it: words first, as when a person pastes an image. It reads a file that is
 * mentioned, as in its own terminal; one that the text mentions is not mentioned again.
 */
export function promptOf(
  text: string,
  blocks: readonly ContentBlock[],
  projectDir: string,
): Content {
  const { mentions, others } = linkedMentions(text, blocks, projectDir);
  const unread = mentions.filter(({ path }) => !isRead(path)).map(({ link }) => link);
  const links = others.filter((block) => block.type === 'resource_link');
  const words = joinWords(text, [...new Set([...unread, ...links])].map(mentionLink));
  const parts = blocks.flatMap((block): Part[] => partOf(block) ?? []);
  if (parts.length === 0) return words;
  if (words === '') return parts;
  const said: Part = { type: 'text', text: words };
  return isForProgram(words) ? [...parts, said] : [said, ...parts];
}

/** Whether Claude Code itself reads the words: a command, or mentions. Of several parts it reads only the last. */
const isForProgram = (words: string): boolean =>
  words.startsWith('/') || mentionsIn(words).length > 0;

function mentionLink(link: Link): string {
  const path = linkedPath(link);
  return path !== undefined && isRead(path) ? mentionOf(path) : linkInWords(link);
}

/** Claude Code has no way to write a quote in a mention, and takes a # for the start of a line's number. */
const isRead = (path: string): boolean => !/["#]/.test(path);

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
