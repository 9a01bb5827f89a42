/** What agents take in a message besides its text, and how it is put where they take only text. */
import { fileURLToPath } from 'node:url';
import type { AcceptedContent, ContentBlock } from '@liminal/protocol';

type Resource = Extract<ContentBlock, { type: 'resource' }>['resource'];
type ResourceLink = Extract<ContentBlock, { type: 'resource_link' }>;

/** For agents that take only text; a link can be said in words. */
export const onlyText: AcceptedContent = { image: [], audio: [], resource: [] };
/** The images that language models read. */
export const commonImages = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** Why an agent cannot take a message, in a sentence; undefined if it can. */
export function whyNotAccepted(
  agent: string,
  accepts: AcceptedContent,
  blocks: readonly ContentBlock[],
): string | undefined {
  const block = blocks.find((one) => !isAccepted(one, accepts));
  if (block === undefined || block.type === 'resource_link') return undefined;
  const patterns = accepts[block.type];
  const things = { image: 'images', audio: 'audio', resource: 'files' }[block.type];
  const taken = patterns.length === 0 ? '' : `, only ${patterns.join(', ')}`;
  const name = block.type === 'resource' ? block.resource.name : block.name;
  const which = name === undefined ? typeOf(block) : `“${name}” (${typeOf(block)})`;
  return `${agent} takes no such ${things}${taken}. Take ${which} out of the message.`;
}

function isAccepted(block: ContentBlock, accepts: AcceptedContent): boolean {
  if (block.type === 'resource_link') return true;
  const mimeType = typeOf(block);
  return accepts[block.type].some((pattern) =>
    pattern.endsWith('/*') ? mimeType.startsWith(pattern.slice(0, -1)) : pattern === mimeType,
  );
}

/** A file that is given as text counts as text, whatever it is. */
function typeOf(block: Exclude<ContentBlock, { type: 'resource_link' }>): string {
  if (block.type !== 'resource') return block.mimeType;
  const { mimeType = 'application/octet-stream', text } = block.resource;
  return text !== undefined && !mimeType.startsWith('text/') ? 'text/plain' : mimeType;
}

/** A message's text with what else is said in words. */
export const joinWords = (text: string, more: readonly string[]): string =>
  [text, ...more].filter((part) => part !== '').join('\n\n');

/** A text file in words. */
export function fileInWords({ uri, name = uri, text = '' }: Resource): string {
  return `<file name=${JSON.stringify(name)}>\n${text}\n</file>`;
}

/** The path of a link to a file; undefined for other links. */
export function linkedPath({ uri }: ResourceLink): string | undefined {
  try {
    return new URL(uri).protocol === 'file:' ? fileURLToPath(uri) : undefined;
  } catch {
    return undefined;
  }
}

/** A link in words. */
export const linkInWords = (link: ResourceLink): string =>
  linkedPath(link) ?? `${link.name}: ${link.uri}`;
