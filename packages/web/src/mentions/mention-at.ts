/** A mention that is being typed: its place, and the typed part of its path. */
export interface TypedMention {
  from: number;
  /** The end of the text that a chosen path will replace. */
  to: number;
  query: string;
}

const before = String.raw`(?<=^|[\s。、？！])`;
const begun = new RegExp(`${before}@(?:"(?<quoted>[^"\n]*)|(?<plain>[^\\s"]*))$`, 'u');
/** A longer text (characters) is not a path. */
const longest = 500;

/** The mention that ends at the caret or contains it; undefined if there is none. */
export function mentionAt(text: string, caret: number): TypedMention | undefined {
  const start = Math.max(0, caret - longest);
  const found = begun.exec(text.slice(start, caret));
  // The search begins inside the text, so a match at its first character may begin inside a word.
  if (found === null || (found.index === 0 && start > 0)) return undefined;
  const { quoted, plain = '' } = found.groups ?? {};
  const query = quoted ?? plain;
  const rest = text.slice(caret, caret + longest);
  // If nothing is typed after the @, the word behind the caret does not belong to the mention.
  const tail = quoted === undefined ? /^[^\s"]*[\p{L}\p{N}\p{M}/_+~=%-]/u : /^[^"\n]*"/;
  const more = query === '' ? 0 : (tail.exec(rest)?.[0].length ?? 0);
  return { from: start + found.index, to: caret + more, query };
}
