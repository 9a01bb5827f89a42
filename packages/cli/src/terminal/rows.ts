/** Shows text of agents and people in rows that cannot look like Liminal's own rows. */
import { markHidden } from '@liminal/protocol';

/** The start of each row with text of an agent or a person. */
export const mark = '│ ';

const lineBreak = /(?<!\r)\r*\n/g;

/** Returns the text on one row, with visible signs for line breaks and hidden characters. */
export function oneRow(text: string): string {
  return markHidden(text.replaceAll(lineBreak, '⏎'));
}

/** Returns the lines of a text, with visible signs for hidden characters. */
export const linesOf = (text: string): string[] => markHidden(text).split(lineBreak);

/** Returns the text with the mark at the start of each row except the first. */
export function withMarkedRows(text: string): string {
  return text.replaceAll(lineBreak, `\n${mark}`);
}

/** Returns the lines with visible signs for hidden characters, and with the mark at the start of each row. */
export function markedRows(lines: readonly string[], columns: number): string[] {
  return lines.flatMap((line) => fitted(line, { first: mark, further: mark }, columns));
}

/**
 * Splits a line into rows of at most `columns`, so that the terminal never wraps the line. Every row after the first is
 * indented by two more columns than the line.
 */
export function fitted(
  line: string,
  { first, further }: { first: string; further: string },
  columns: number,
): string[] {
  const room = Math.max(columns - Math.max(widthOf(first), widthOf(further)), 8);
  const [, indentation = ''] = /^( {0,8})/.exec(line) ?? [];
  const rows: string[] = [];
  for (let rest = line; rest !== '' || rows.length === 0;) {
    const indent = rows.length === 0 ? '' : `${indentation}  `.slice(0, room / 2);
    const end = endWithin(rest, room - indent.length);
    rows.push((rows.length === 0 ? first : further) + indent + rest.slice(0, end));
    rest = rest.slice(end);
  }
  return rows;
}

const segmenter = new Intl.Segmenter();
const plain = /^[ -~]*$/;

/** Returns the index at which the first row of a text ends. The row has at least one character. */
function endWithin(text: string, room: number): number {
  if (plain.test(text.slice(0, room + 1))) return Math.min(room, text.length);
  let width = 0;
  // Take at least one UTF-16 unit, so that the row has a character.
  for (const { segment, index } of segmenter.segment(text.slice(0, room + 64))) {
    width += widthOf(segment);
    if (width > room && index > 0) return index;
  }
  return Math.min(text.length, room + 64);
}

/**
 * Returns an upper bound of a text's width in columns: the width of non-ASCII characters differs between fonts and
 * terminals.
 */
function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += plain.test(character) ? 1 : character === '\t' ? 8 : 2;
  return width;
}
