/**
 * The most characters that a browser lays out together. Layout takes more than linear time for letters that join, for
 * words without spaces and for text in two directions: 200,000 such characters in one block take minutes, 1,000 a few
 * ms. Text with few such letters is cut into longer pieces, because each piece visibly ends its line.
 */
const longest = { slow: 1_000, plain: 20_000 };

/**
 * The most characters of a text that is cut to one line, on a page of any width. A piece of text may have the same
 * number.
 */
export const mostInLine = 1_000;

/** How far back to search for an index at which a cut does not split a character, in code units. */
const farthestBack = 40;

/**
 * Matches code units that belong to the character before them: combining marks, joiners, the second half of a surrogate
 * pair.
 */
const continues = /[\p{M}\p{Cs}\p{Emoji_Modifier}\p{Join_Control}]/u;

/**
 * Cuts a text into pieces that are laid out separately: after a line break, otherwise after a space, otherwise between
 * any two characters. Joining the pieces gives the text.
 */
export function textPieces(text: string): string[] {
  const most = isSlowBlock(text, longest.slow) ? longest.slow : longest.plain;
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    const end = pieceEnd(text, from, most);
    pieces.push(text.slice(from, end));
    from = end;
  }
  return pieces;
}

function pieceEnd(text: string, from: number, most: number): number {
  const last = from + most;
  if (last >= text.length) return text.length;
  const piece = text.slice(from, last);
  const lineBreak = piece.lastIndexOf('\n') + 1;
  if (lineBreak > 0) return from + lineBreak;
  const blank = piece.lastIndexOf(' ') + 1;
  if (blank > most / 2) return from + blank;
  for (let end = last; end > last - farthestBack; end -= 1) {
    if (!continuesAt(text, end) && text.charAt(end - 1) !== joiner) return end;
  }
  return /\p{Cs}/u.test(characterAt(text, last)) ? last - 1 : last;
}

const joiner = '\u200D';

function continuesAt(text: string, at: number): boolean {
  return continues.test(characterAt(text, at));
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0);
}

/** A piece of text with further properties, such as a colour. */
interface TextFragment {
  readonly text: string;
}

/** Cuts spans at the indexes at which `textPieces` cuts their joined text. Returns the spans of each piece. */
export function spanPieces<Item extends TextFragment>(spans: readonly Item[]): Item[][] {
  const length = spans.reduce((sum, { text }) => sum + text.length, 0);
  if (length <= longest.slow) return spans.length === 0 ? [] : [[...spans]];
  const left = spans.toReversed();
  return textPieces(spans.map(({ text }) => text).join('')).map((piece) => {
    const inside: Item[] = [];
    for (let missing = piece.length; missing > 0;) {
      const span = left.pop();
      if (span === undefined) break;
      inside.push({ ...span, text: span.text.slice(0, missing) });
      if (span.text.length > missing) left.push({ ...span, text: span.text.slice(missing) });
      missing -= span.text.length;
    }
    return inside;
  });
}

/** Matches letters of scripts whose layout can take more than linear time. */
const slow =
  /[^\p{sc=Zyyy}\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]/gu;

/**
 * The most letters of such scripts in a field. With more, the page would freeze at each key, because a field cannot be
 * laid out in pieces.
 */
export const slowLettersToEdit = 20_000;

/**
 * Whether a text has more than `most` letters of such scripts, so that laying out the text as one block would freeze
 * the page.
 */
export function isSlowBlock(text: string, most: number): boolean {
  return text.length > most && (text.match(slow)?.length ?? 0) > most;
}
