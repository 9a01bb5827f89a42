/**
 * Finds files that a message mentions in the form of Claude Code's own terminal program: `@src/a.ts`, `@"a path with
 * spaces"`, relative to the project folder. A mention is at the beginning of a word.
 */
import type { ContentBlock } from './content.ts';

export interface Mention {
  /** The path in the text: a file's path, or a folder's path with a slash at its end. */
  path: string;
  /** The mention's position in the text, in UTF-16 code units; `to` is the index after the mention. */
  from: number;
  to: number;
}

/** A mention follows the start of the text, white space, or punctuation of languages that have no spaces. */
const before = String.raw`(?<=^|[\s。、？！])`;
const form = new RegExp(`${before}@(?:"(?<quoted>(?:\\\\"|[^"])+)"|(?<plain>[^\\s"]\\S*))`, 'gu');
/**
 * The characters with which a mention can end. Punctuation after a mention belongs to the sentence, not to the mention.
 */
const last = /[\p{L}\p{N}\p{M}/_+~=%-]/u;
const needsNoQuotes = /^[\p{L}\p{N}\p{M}./@+~=%_-]*[\p{L}\p{N}\p{M}/_+~=%-]$/u;

/** Returns a path in the form of a mention. */
export function mentionOf(path: string): string {
  return needsNoQuotes.test(path) ? `@${path}` : `@"${path.replaceAll('"', '\\"')}"`;
}

/** Returns the mentions in a text, in their order, without checking whether the files exist. */
export function mentionsIn(text: string): Mention[] {
  return [...text.matchAll(form)].flatMap(({ index, 0: all, groups = {} }) => {
    const { quoted, plain = '' } = groups;
    if (quoted !== undefined) {
      return { path: quoted.replaceAll('\\"', '"'), from: index, to: index + all.length };
    }
    const letters = Array.from(plain);
    const path = letters.slice(0, letters.findLastIndex((one) => last.test(one)) + 1).join('');
    return path === '' ? [] : { path, from: index, to: index + 1 + path.length };
  });
}

type ResourceLink = Extract<ContentBlock, { type: 'resource_link' }>;

/** A mention, and the resource link for it. */
export interface LinkedMention extends Mention {
  link: ResourceLink;
}

/**
 * Returns the resource link of a mentioned file. `folder` is the path of the project folder, and `path` the path in the
 * mention.
 */
export function mentionLink(folder: string, path: string): ResourceLink {
  const address = `${folder === '/' ? '' : folder}/${path}`.split('/').map(encodeURIComponent);
  const name = path.split('/').findLast((part) => part !== '') ?? path;
  return { type: 'resource_link', uri: `file://${address.join('/')}`, name };
}

/** Divides the blocks of a message into links to files that the message's text mentions, and all other blocks. */
export function linkedMentions(
  text: string,
  blocks: readonly ContentBlock[],
  folder: string | undefined,
): { mentions: LinkedMention[]; others: ContentBlock[] } {
  const links = blocks.filter((block) => block.type === 'resource_link');
  if (folder === undefined || links.length === 0) return { mentions: [], others: [...blocks] };
  const byAddress = new Map(links.map((link) => [addressOf(link), link]));
  const mentions = mentionsIn(text).flatMap((mention) => {
    const link = byAddress.get(addressOf(mentionLink(folder, mention.path)));
    return link === undefined ? [] : { ...mention, link };
  });
  const mentioned = new Set<ContentBlock>(mentions.map(({ link }) => link));
  const isOther = (block: ContentBlock) => !mentioned.has(block);
  return { mentions, others: blocks.filter(isOther) };
}

/**
 * Returns the same address for all ways to write an address: with or without escapes, and with or without the slash
 * after a folder.
 */
function addressOf({ uri }: ResourceLink): string {
  try {
    return decodeURIComponent(uri).replace(/\/$/, '');
  } catch {
    return uri;
  }
}
