import { ToolError } from '../tool-error.ts';
import { maxTextBytes } from './text-file.ts';

interface Replacement {
  path: string;
  oldText: string;
  newText: string;
  replaceAll?: boolean | undefined;
}

/** The most line numbers that an error lists. */
const namedLines = 10;

/**
 * Replaces a part of a text; returns the new text and the lines (counted from 1) of the replaced part. If all lines of
 * the text end with CR LF, the new lines also end with CR LF. Throws ToolError with a hint if the text does not contain
 * the old text.
 */
export function replaceText(
  text: string,
  { path, oldText, newText, replaceAll = false }: Replacement,
): { text: string; lines: number[] } {
  if (oldText === newText) throw new ToolError('The old and the new text are the same.');
  const isCrLf = text.includes('\r\n') && !/(?<!\r)\n/.test(text);
  const written = (part: string): string => (isCrLf ? part.replace(/\r?\n/g, '\r\n') : part);
  const [from, to] = [written(oldText), written(newText)];
  const parts = text.split(from);
  if (parts.length === 1)
    throw new ToolError(`The old text is not in “${path}”. ${hint(text, from)}`);
  const lines = linesBetween(parts, from);
  if (parts.length > 2 && !replaceAll) {
    const named = lines.slice(0, namedLines).join(', ');
    const more = lines.length > namedLines ? ', …' : '';
    throw new ToolError(
      `The old text occurs ${lines.length} times in “${path}”, in the lines ${named}${more}. Include more of the lines around it, or set replaceAll.`,
    );
  }
  if (text.length + lines.length * (to.length - from.length) > maxTextBytes) {
    throw new ToolError(`“${path}” would become larger than ${maxTextBytes / 1024 / 1024} MiB.`);
  }
  return { text: parts.join(to), lines };
}

function linesBetween(parts: readonly string[], between: string): number[] {
  const count = (part: string): number => part.split('\n').length - 1;
  const inBetween = count(between);
  const lines: number[] = [];
  let line = 1;
  for (const part of parts.slice(0, -1)) {
    line += count(part);
    lines.push(line);
    line += inBetween;
  }
  return lines;
}

/** Returns a hint for the model about the difference between the wanted text and the file's text. */
function hint(text: string, wanted: string): string {
  const unified = (part: string): string => part.replace(/\r\n?/g, '\n');
  if (unified(text).includes(unified(wanted))) {
    return 'It occurs with other line ends (CR LF and LF).';
  }
  const bare = (part: string): string => part.replace(/\s+/g, '');
  if (bare(wanted) !== '' && bare(text).includes(bare(wanted))) {
    return 'It occurs with other spaces, tabs or line ends: read the file again and copy it exactly.';
  }
  if (bare(wanted) !== '' && bare(text).toLowerCase().includes(bare(wanted).toLowerCase())) {
    return 'It occurs with other capital letters.';
  }
  return 'Read the file again and copy it exactly, without line numbers.';
}
