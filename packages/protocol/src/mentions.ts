/**
 * Files that a message mentions, as Claude Code's own terminal writes them: `@src/a.ts`, `@"a path with spaces"`, from
 * the project folder. A mention begins a word.
 */

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
/** What follows a mention in a sentence does not belong to it. */
const afterwards = /[^\p{L}\p{N}\p{M}/_+~=%-]+$/u;
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
    const path = plain.replace(afterwards, '');
    return path === '' ? [] : { path, from: index, to: index + 1 + path.length };
  });
}
