/** A mention that is being typed: its position, and the typed part of its path. */
export interface TypedMention {
  from: number;
  /** The index at which the text ends that a chosen path will replace. */
  to: number;
  query: string;
}

const before = String.raw`(?<=^|[\s。、？！])`;
const begun = new RegExp(`${before}@(?:"(?<quoted>[^"\n]*)|(?<plain>[^\\s"]*))$`, 'u');
/** The length of the longest path, in characters. A longer text is not taken for a path. */
const longest = 500;

/** Returns the mention that ends at the caret or contains it; undefined if there is none. */
export function mentionAt(text: string, caret: number): TypedMention | undefined {
  const start = Math.max(0, caret - longest);
  const found = begun.exec(text.slice(start, caret));
  // The searched text begins in the middle of the message, so a match at its first character may begin inside a word.
  if (found === null || (found.index === 0 && start > 0)) return undefined;
  const { quoted, plain = '' } = found.groups ?? {};
  const query = quoted ?? plain;
  const rest = text.slice(caret, caret + longest);
  // If nothing is typed after the @, the word after the caret does not belong to the mention.
  const tail = quoted === undefined ? /^[^\s"]*[\p{L}\p{N}\p{M}/_+~=%-]/u : /^[^"\n]*"/;
  const more = query === '' ? 0 : (tail.exec(rest)?.[0].length ?? 0);
  return { from: start + found.index, to: caret + more, query };
}
