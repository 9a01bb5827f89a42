/** How text is taken apart for search, the same in every driver: an index finds candidates by these words, and `match.ts` decides. */

/** A word of a text, folded, and where it stands there. */
export interface TextWord {
  folded: string;
  start: number;
  end: number;
}

/** Letters, digits and their marks; where a script puts no spaces between words, each letter is one. */
const wordPattern =
  /[[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]&&[\p{L}\p{N}]]\p{M}*|[[\p{L}\p{N}\p{M}]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]]+/gv;

/** What a folded word may not hold: accents, so that `cafe` finds `café`, and what its letters were made of besides. */
const dropped = /[\u0300-\u036f]|[^\p{L}\p{N}\p{M}]/gu;
const ascii = /^[a-z0-9]+$/;

/** Longest word in an index, in characters; a longer one is found by its beginning. */
const WORD_MAX = 64;
/** All words of one text in an index, in characters: PostgreSQL takes no more than 1 MB. */
const INDEX_MAX = 200_000;
/** And this part of a long text: one whose words hardly recur (a dump of numbers) would be stored twice. */
const LONG_TEXT = 2_000;
const INDEX_PART = 0.4;

/** The words of a text, in order. Read lazily. */
export function* wordsOf(text: string): Generator<TextWord> {
  for (const { 0: word, index } of text.matchAll(wordPattern)) {
    const folded = fold(word);
    if (folded !== '') yield { folded, start: index, end: index + word.length };
  }
}

/** What an index keeps of a text: its words, each once, cut to a length. They hold letters, digits and marks alone. */
function indexWords(text: string): string[] {
  const words = new Set<string>();
  let room = Math.min(INDEX_MAX, Math.max(LONG_TEXT, INDEX_PART * text.length));
  for (const { folded } of wordsOf(text)) {
    const word = cutWord(folded);
    if (words.has(word)) continue;
    room -= word.length;
    if (room < 0) break;
    words.add(word);
  }
  return [...words];
}

/** The same in one text, with spaces between them. */
export function wordList(text: string): string {
  return indexWords(text).join(' ');
}

/** As it stands in an index. */
export function cutWord(folded: string): string {
  // By code points: half a character could not be stored.
  return folded.length <= WORD_MAX ? folded : Array.from(folded).slice(0, WORD_MAX).join('');
}

function fold(word: string): string {
  const lower = word.toLowerCase();
  return ascii.test(lower) ? lower : lower.normalize('NFKD').replaceAll(dropped, '');
}
