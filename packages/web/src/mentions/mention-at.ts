/** A mention that is being typed: its place, and what is typed of its path. */
export interface TypedMention {
  from: number;
  /** Behind what a chosen path replaces. */
  to: number;
  query: string;
}

const before = String.raw`(?<=^|[\s。、？！])`;
const begun = new RegExp(`${before}@(?:"(?<quoted>[^"\n]*)|(?<plain>[^\\s"]*))$`, 'u');
/** A longer one is no path. */
const longest = 500;

/** The mention that ends at the caret, or is around it; undefined if none is being typed there. */
export function mentionAt(text: string, caret: number): TypedMention | undefined {
  const start = Math.max(0, caret - longest);
  const found = begun.exec(text.slice(start, caret));
  // What is cut off may be the word that the mention seems to begin.
  if (found === null || (found.index === 0 && start > 0)) return undefined;
  const { quoted, plain = '' } = found.groups ?? {};
  const query = quoted ?? plain;
  const rest = text.slice(caret, caret + longest);
  // Before a word, nothing of it is meant.
  const tail = quoted === undefined ? /^[^\s"]*[\p{L}\p{N}\p{M}/_+~=%-]/u : /^[^"\n]*"/;
  const more = query === '' ? 0 : (tail.exec(rest)?.[0].length ?? 0);
  return { from: start + found.index, to: caret + more, query };
}
