/**
 * Splits text into words for search, in the same way for every driver. An index finds candidates by these words; then
 * `match.ts` decides which candidates match.
 */

/** A word of a text in folded form, and its position in the text. */
export interface TextWord {
  folded: string;
  start: number;
  end: number;
}

/** Letters, digits and their marks; in scripts without spaces between words, each letter is a word. */
const wordPattern =
  /[[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]&&[\p{L}\p{N}]]\p{M}*|[[\p{L}\p{N}\p{M}]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]]+/gv;

/**
 * Characters that folding removes: accents, so that `cafe` finds `café`, and everything but letters, digits and marks.
 */
const dropped = /[\u0300-\u036f]|[^\p{L}\p{N}\p{M}]/gu;
const ascii = /^[a-z0-9]+$/;

/** The longest word in an index, in characters. A longer word is found by its beginning. */
const wordMax = 64;
/** The most characters of words per text in an index: PostgreSQL accepts no more than 1 MB. */
const indexMax = 200_000;
/**
 * The most characters of indexed words of a long text, as a share of the text. Without this limit, a text with few
 * repeated words (a dump of numbers) would be stored twice.
 */
const longText = 2_000;
const indexPart = 0.4;

/** Yields the words of a text, in order; read lazily. */
export function* wordsOf(text: string): Generator<TextWord> {
  for (const { 0: word, index } of text.matchAll(wordPattern)) {
    const folded = fold(word);
    if (folded !== '') yield { folded, start: index, end: index + word.length };
  }
}

/**
 * The words of a text for an index, each once, cut to a length. The words consist of letters, digits and marks only.
 */
function indexWords(text: string): string[] {
  const words = new Set<string>();
  let room = Math.min(indexMax, Math.max(longText, indexPart * text.length));
  for (const { folded } of wordsOf(text)) {
    const word = cutWord(folded);
    if (words.has(word)) continue;
    room -= word.length;
    if (room < 0) break;
    words.add(word);
  }
  return [...words];
}

/** Returns the words of `indexWords` as one text, separated by spaces. */
export function wordList(text: string): string {
  return indexWords(text).join(' ');
}

/** A word as it is stored in an index. */
export function cutWord(folded: string): string {
  if (folded.length <= wordMax) return folded;
  // Cut between code points (a code point is at most two units), because half a surrogate pair could not be stored.
  return Array.from(folded.slice(0, 2 * wordMax))
    .slice(0, wordMax)
    .join('');
}

function fold(word: string): string {
  const lower = word.toLowerCase();
  return ascii.test(lower) ? lower : lower.normalize('NFKD').replaceAll(dropped, '');
}
