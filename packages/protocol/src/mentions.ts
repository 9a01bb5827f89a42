/**
 * Files that a message mentions, as Claude Code's own terminal writes them: `@src/a.ts`, `@"a path with spaces"`, from
 * the project folder. A mention begins a word.
 */
import type { ContentBlock } from './content.ts';

export interface Mention {
  /** As it was mentioned: a file's path, or a folder's with a slash at its end. */
  path: string;
  /** Its place in the text, in UTF-16 code units; `to` is behind its end. */
  from: number;
  to: number;
}

/** Before a mention stands nothing, a space, or a full stop of languages that have no spaces. */
const before = String.raw`(?<=^|[\s。、？！])`;
const form = new RegExp(`${before}@(?:"(?<quoted>(?:\\\\"|[^"])+)"|(?<plain>[^\\s"]\\S*))`, 'gu');
/** The last letter of a mention: what follows it in a sentence does not belong to it. */
const last = /[\p{L}\p{N}\p{M}/_+~=%-]/u;
const needsNoQuotes = /^[\p{L}\p{N}\p{M}./@+~=%_-]*[\p{L}\p{N}\p{M}/_+~=%-]$/u;

/** A path as a mention. */
export function mentionOf(path: string): string {
  return needsNoQuotes.test(path) ? `@${path}` : `@"${path.replaceAll('"', '\\"')}"`;
}

/** The mentions in a text, in their order; whether there are such files is not known here. */
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

type Link = Extract<ContentBlock, { type: 'resource_link' }>;

/** A mention that a link beside the text explains. */
export interface LinkedMention extends Mention {
  link: Link;
}

/** The link to a file that a message mentions. `folder` is the project's, `path` as in a mention. */
export function mentionLink(folder: string, path: string): Link {
  const address = `${folder === '/' ? '' : folder}/${path}`.split('/').map(encodeURIComponent);
  const name = path.split('/').findLast((part) => part !== '') ?? path;
  return { type: 'resource_link', uri: `file://${address.join('/')}`, name };
}

/** Divides what is beside a text into links to what the text mentions, and the rest. */
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
  const said = new Set<ContentBlock>(mentions.map(({ link }) => link));
  const isOther = (block: ContentBlock) => !said.has(block);
  return { mentions, others: blocks.filter(isOther) };
}

/** The same for all ways to write an address: with or without escapes, and a folder's slash. */
function addressOf({ uri }: Link): string {
  try {
    return decodeURIComponent(uri).replace(/\/$/, '');
  } catch {
    return uri;
  }
}
