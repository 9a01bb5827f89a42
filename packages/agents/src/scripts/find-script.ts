/** The word after the backticks of a script that is to be run. */
const scriptFence = 'liminal-script';

/**
 * The script that a message asks to be run: a code block in backticks with the word `liminal-script`, closed, and the last
 * thing in the message. Of several such blocks it is the last. Blocks begin and end as in CommonMark (section 4.5), so one
 * that is quoted in another block does not count. Undefined if there is none.
 */
export function findScript(message: string): string | undefined {
  let open: { mark: string; info: string; lines: string[] } | undefined;
  let last: string | undefined;
  for (const line of message.split(/\r?\n/)) {
    if (open === undefined) {
      const [, mark, info] = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)$/.exec(line) ?? [];
      if (mark !== undefined && info !== undefined) open = { mark, info: info.trim(), lines: [] };
      if (line.trim() !== '') last = undefined;
    } else if (isEndOf(open.mark, line)) {
      const isScript = open.mark.startsWith('`') && open.info === scriptFence;
      last = isScript ? open.lines.join('\n') : undefined;
      open = undefined;
    } else open.lines.push(line);
  }
  return open === undefined ? last : undefined;
}

function isEndOf(mark: string, line: string): boolean {
  const [, end = ''] = /^ {0,3}(`+|~+)[ \t]*$/.exec(line) ?? [];
  return end.startsWith(mark);
}
