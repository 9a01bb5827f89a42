/** A piece of a text, and whether it matches the search. */
export interface SnippetPiece {
  text: string;
  found: boolean;
}

const notWord = /[^\p{L}\p{N}]+/u;
/** Matches scripts that have no spaces between words. */
const unspaced = /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u;

/**
 * Splits a snippet at the matches. A match is a word that begins with a word of the query, ignoring case and accents.
 */
export function markWords(snippet: string, query: string): SnippetPiece[] {
  const { folded, places } = foldText(snippet);
  const isFound = Array.from({ length: snippet.length }, () => false);
  for (const word of new Set(foldText(query).folded.split(notWord).filter(Boolean))) {
    for (const at of beginnings(folded, word)) {
      isFound.fill(true, places[at], places[at + word.length]);
    }
  }
  return pieces(snippet, isFound);
}

/** The number of letters that are shown before the first match. */
const lead = 24;

/** Returns the pieces from shortly before the first match on, so that the match is visible in a single line. */
export function fromFirst(all: readonly SnippetPiece[]): readonly SnippetPiece[] {
  const [first, ...rest] = all;
  if (first === undefined || first.found || first.text.length <= lead || rest.length === 0)
    return all;
  const cut = first.text.slice(-lead);
  // If the text before the match contains the beginning of a word, the text starts there.
  const text = /^\S*\s+(?=\S)/.exec(cut)?.[0];
  return [
    { text: `… ${text === undefined ? cut : cut.slice(text.length)}`, found: false },
    ...rest,
  ];
}

function* beginnings(folded: string, word: string): Generator<number> {
  for (let at = folded.indexOf(word); at >= 0; at = folded.indexOf(word, at + word.length)) {
    const before = folded.charAt(at - 1);
    if (before === '' || notWord.test(before) || unspaced.test(word)) yield at;
  }
}

/**
 * Returns the text in lower case without accents, with the index of each character in the original text, and the index
 * of the end.
 */
function foldText(text: string): { folded: string; places: number[] } {
  let folded = '';
  const places: number[] = [];
  let place = 0;
  for (const character of text) {
    const plain = character.toLowerCase().normalize('NFKD').replaceAll(/\p{M}/gu, '');
    folded += plain;
    for (let unit = 0; unit < plain.length; unit += 1) places.push(place);
    place += character.length;
  }
  return { folded, places: [...places, text.length] };
}

function pieces(text: string, isFound: readonly boolean[]): SnippetPiece[] {
  const all: SnippetPiece[] = [];
  for (const [index, unit] of text.split('').entries()) {
    const found = isFound[index] ?? false;
    const last = all.at(-1);
    if (last?.found === found) last.text += unit;
    else all.push({ text: unit, found });
  }
  return all;
}
