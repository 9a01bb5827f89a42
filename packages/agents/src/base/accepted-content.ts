/** What agents take in a message besides its text, and how it is put where they take only text. */
import { fileURLToPath } from 'node:url';
import type { AcceptedContent, ContentBlock } from '@liminal/protocol';

type Resource = Extract<ContentBlock, { type: 'resource' }>['resource'];
type ResourceLink = Extract<ContentBlock, { type: 'resource_link' }>;

/** For agents that take only text; a link can be said in words. */
export const onlyText: AcceptedContent = { image: [], audio: [], resource: [] };
/** The images that language models read. */
export const commonImages = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
/** The sounds that language models hear, under each name that browsers have for them, and their format. */
export const commonSounds: Readonly<Record<string, 'wav' | 'mp3'>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
};

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
