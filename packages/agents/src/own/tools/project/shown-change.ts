import type { FileDiff } from '@liminal/protocol';

/** The number of lines that are shown before and after a change. */
const around = 3;

/**
 * Returns the changed part of a file, in whole lines, with a few lines before and after the change.
 * @param path - The file's real path.
 * @param oldText - Undefined for a new file, which is shown completely.
 */
export function shownChange(path: string, oldText: string | undefined, newText: string): FileDiff {
  if (oldText === undefined) return { path, newText };
  const [before, after] = [linesOf(oldText), linesOf(newText)];
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const part = (lines: readonly string[]): string =>
    lines.slice(Math.max(0, start - around), lines.length - Math.max(0, end - around)).join('');
  const line = Math.max(0, start - around) + 1;
  return { path, oldText: part(before), newText: part(after), oldLine: line, newLine: line };
}

/** Returns the lines of a text, each with its line end. */
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
