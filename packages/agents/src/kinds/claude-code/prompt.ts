import type { SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';
import {
  type AcceptedContent,
  type ContentBlock,
  linkedMentions,
  mentionOf,
  mentionsIn,
} from '@liminal/protocol';
import { commonImages, joinWords, linkedPath, linkAsText } from '../../base/accepted-content.ts';

type PromptContent = SDKUserMessage['message']['content'];
type ResourceLink = Extract<ContentBlock, { type: 'resource_link' }>;
type PromptPart = Exclude<PromptContent, string>[number];

export const accepted: AcceptedContent = {
  image: commonImages,
  audio: [],
  resource: ['text/*', 'application/pdf'],
};

/**
 * A user message in Claude Code's form: text first, as when a person pastes an image. Links to files become mentions,
 * which Claude Code reads as in its own terminal, unless the text already mentions the file.
 */
export function claudePrompt(
  text: string,
  blocks: readonly ContentBlock[],
  projectDir: string,
): PromptContent {
  const { mentions, others } = linkedMentions(text, blocks, projectDir);
  const unread = mentions.filter(({ path }) => !isMentionable(path)).map(({ link }) => link);
  const links = others.filter((block) => block.type === 'resource_link');
  const words = joinWords(text, [...new Set([...unread, ...links])].map(mentionLink));
  const parts = blocks.flatMap((block): PromptPart[] => toPromptParts(block) ?? []);
  if (parts.length === 0) return words;
  if (words === '') return parts;
  const textPart: PromptPart = { type: 'text', text: words };
  return isForProgram(words) ? [...parts, textPart] : [textPart, ...parts];
}

/**
 * Returns whether the text has a command or mentions, which Claude Code itself interprets. If a message has several
 * text parts, Claude Code interprets only the last.
 */
const isForProgram = (words: string): boolean =>
  words.startsWith('/') || mentionsIn(words).length > 0;

function mentionLink(link: ResourceLink): string {
  const path = linkedPath(link);
  return path !== undefined && isMentionable(path) ? mentionOf(path) : linkAsText(link);
}

/**
 * Returns whether a mention can contain the path: Claude Code cannot escape a quote, and reads a # as the start of a
 * line number.
 */
const isMentionable = (path: string): boolean => !/["#]/.test(path);

function toPromptParts(block: ContentBlock): PromptPart[] | undefined {
  if (block.type === 'image') {
    const { mimeType, data = '' } = block;
    // `accepted` allows only the API's image types.
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
