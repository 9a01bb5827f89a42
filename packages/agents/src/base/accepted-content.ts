/** Content types that agents accept in a message besides text, and their text form for agents that accept only text. */
import { fileURLToPath } from 'node:url';
import type { AcceptedContent, ContentBlock } from '@liminal/protocol';

type Resource = Extract<ContentBlock, { type: 'resource' }>['resource'];
type ResourceLink = Extract<ContentBlock, { type: 'resource_link' }>;

/** The content types for an agent that accepts only text. Links need no entry, because they are sent as text. */
export const onlyText: AcceptedContent = { image: [], audio: [], resource: [] };
/** The image types that language models read. */
export const commonImages = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
/** The format of each audio type that language models accept. Browsers use several MIME types for one format. */
export const commonSounds: Readonly<Record<string, 'wav' | 'mp3'>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
};

/** Appends paragraphs to a message's text, and leaves out empty paragraphs. */
export const joinWords = (text: string, more: readonly string[]): string =>
  [text, ...more].filter((part) => part !== '').join('\n\n');

/** Returns a text file as text for the model, in a `<file>` element. */
export function fileAsText({ uri, name = uri, text = '' }: Resource): string {
  return `<file name=${JSON.stringify(name)}>\n${text}\n</file>`;
}

/** Returns the path of a link to a file; undefined for other links. */
export function linkedPath({ uri }: ResourceLink): string | undefined {
  try {
    return new URL(uri).protocol === 'file:' ? fileURLToPath(uri) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a link as text: a file's path, or the name and URI. */
export const linkAsText = (link: ResourceLink): string =>
  linkedPath(link) ?? `${link.name}: ${link.uri}`;
