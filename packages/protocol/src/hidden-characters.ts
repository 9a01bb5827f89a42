/**
 * Finds invisible characters, and characters that change how other characters look: controls, direction marks,
 * zero-width characters. An agent's text may contain such hidden characters in order to look like another text (Trojan
 * Source, CVE-2021-42574). Therefore hidden characters are shown as visible marks and have no effect.
 */

/** Hidden characters that are part of ordinary writing: line ends, and joiners in emoji, letters and scripts. */
const ordinary = [
  String.raw`\r(?=\n)`,
  String.raw`\p{RGI_Emoji_Tag_Sequence}`,
  String.raw`(?<=\p{ExtPict}[\uFE0F\p{EMod}]?)\u200D(?=\p{ExtPict}|$)`,
  String.raw`(?<=\p{ExtPict})[\uFE0E\uFE0F]`,
  String.raw`(?<=[0-9#*])\uFE0F(?=\u20E3)`,
  String.raw`(?<=\p{Ideographic})[\uFE00-\uFE02\u{E0100}-\u{E01EF}]`,
  String.raw`(?<=\p{scx=Mong})[\u180B-\u180F]`,
];
/** Scripts in which a joiner or non-joiner between two letters changes their form. */
const joined = ['Arab', 'Syrc', 'Mong', 'Deva', 'Beng', 'Guru', 'Gujr', 'Orya', 'Taml', 'Telu']
  .concat('Knda', 'Mlym', 'Sinh', 'Khmr', 'Mymr')
  .map((script) => String.raw`\p{scx=${script}}`)
  .join('');
const joiners = String.raw`(?<=[${joined}])[\u200C\u200D](?=[${joined}]|$)`;

const suspect = String.raw`[[\p{Cc}\p{Cs}\p{DI}\p{Bidi_C}\p{Zl}\p{Zp}\uFFF9-\uFFFB]--[\n\t]]`;
const anySuspect = new RegExp(suspect, 'v');
const hidden = new RegExp(`(?<ordinary>${[...ordinary, joiners].join('|')})|${suspect}`, 'gv');
const inJson = new RegExp(`[${suspect}--\\r]`, 'gv');

/** A piece of text: a hidden character, or the text between two hidden characters. */
export interface TextPiece {
  text: string;
  isHidden: boolean;
}

/**
 * Returns whether text may contain a hidden character. This check is cheap; it is also true for texts with invisible
 * characters of ordinary writing.
 */
export function hasHidden(text: string): boolean {
  return anySuspect.test(text);
}

/** Cuts text at its hidden characters. The returned pieces together are the whole text. */
export function splitHidden(text: string): TextPiece[] {
  if (!hasHidden(text)) return [{ text, isHidden: false }];
  const pieces: TextPiece[] = [];
  let done = 0;
  const addPlain = (end: number) => {
    if (end > done) pieces.push({ text: text.slice(done, end), isHidden: false });
  };
  for (const { 0: found, index, groups } of text.matchAll(hidden)) {
    if (groups?.['ordinary'] !== undefined) continue;
    addPlain(index);
    pieces.push({ text: found, isHidden: true });
    done = index + found.length;
  }
  addPlain(text.length);
  return pieces;
}

/** Returns the text with each hidden character replaced by its code point: `‹U+202E›`. */
export function markHidden(text: string): string {
  return splitHidden(text)
    .map((piece) => (piece.isHidden ? `‹${codePointName(piece.text)}›` : piece.text))
    .join('');
}

/** Writes a character in Unicode's notation: `U+202E`. */
export function codePointName(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Returns the same JSON, with hidden characters and terminal controls written as `\uXXXX`. */
export function escapeHiddenInJson(json: string): string {
  return json.replaceAll(inJson, (found) => {
    const units = Array.from({ length: found.length }, (_, at) => found.charCodeAt(at));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  });
}
