/**
 * Characters that a browser lays out together at most. Layout takes more than linear time for letters that join, for
 * words without blanks and for text in two directions: 200,000 of them in one block take minutes, 2,000 a few ms.
 */
const pieceLength = 2_000;

/** Characters that are searched for a place between two of them that belong together. */
const farthestBack = 40;

/** Belongs to the character before it: a mark, a joiner, the second half of a pair. */
const continues = /[\p{M}\p{Cs}\p{Emoji_Modifier}\p{Join_Control}]/v;

/**
 * Cuts a text into pieces to be laid out one by one: after a line break, otherwise after a blank, otherwise anywhere
 * between two characters. The pieces together are the text.
 */
export function textPieces(text: string): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    const end = pieceEnd(text, from);
    pieces.push(text.slice(from, end));
    from = end;
  }
  return pieces;
}

function pieceEnd(text: string, from: number): number {
  const last = from + pieceLength;
  if (last >= text.length) return text.length;
  const piece = text.slice(from, last);
  const lineBreak = piece.lastIndexOf('\n') + 1;
  if (lineBreak > 0) return from + lineBreak;
  const blank = piece.lastIndexOf(' ') + 1;
  if (blank > pieceLength / 2) return from + blank;
  for (let end = last; end > last - farthestBack; end -= 1) {
    if (!continuesAt(text, end) && text.charAt(end - 1) !== joiner) return end;
  }
  return /\p{Cs}/v.test(characterAt(text, last)) ? last - 1 : last;
}

const joiner = '\u200D';

function continuesAt(text: string, at: number): boolean {
  return continues.test(characterAt(text, at));
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0);
}
