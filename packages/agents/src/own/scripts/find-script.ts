/** The word after the opening backticks of a script block. */
export const scriptFence = 'liminal-script';

/** The script in a message, or the reason why the script must not run. */
export type FoundScript =
  | {
      code: string;
      /** The part of the message before the block. */
      before: string;
    }
  /** Why the script must not run, and what to write instead, as a sentence for the model. */
  | { problem: string };

/** A code block that is marked as a script; the positions of its opening and closing lines. */
interface ScriptBlock {
  from: number;
  to: number;
  /** Whether the opening line is only backticks and the word `liminal-script`. */
  isExact: boolean;
}

const again = `Write one block, opened by a line with \`\`\`${scriptFence} and nothing else, closed by a line with \`\`\`, at the end of your answer.`;
const unclosed = `It was not run: the block is not closed. ${again}`;
const several = `Nothing was run: the answer has more than one script. ${again}`;
const misnamed = `It was not run: the block’s opening line is wrong. ${again}`;
const empty = `Nothing was run: the block is empty. ${again}`;

/**
 * Finds the script that a message wants to run: a closed code block in backticks with the word `liminal-script`. The
 * message must contain no other block with that word, and must end with the block. Blocks begin and end as in
 * CommonMark (section 4.5), so a block inside another block is not found. Returns undefined if the message does not end
 * with a script block, because the message may only discuss a script.
 */
export function findScript(message: string): FoundScript | undefined {
  const lines = message.split(/\r?\n/);
  let open: { mark: string; info: string; from: number } | undefined;
  let last: ScriptBlock | undefined;
  let count = 0;
  for (const [at, line] of lines.entries()) {
    if (open === undefined) {
      const [, mark = '', info = ''] = /^ {0,3}(`{3,}|~{3,})(.*)$/s.exec(line) ?? [];
      const isOpened = mark.startsWith('~') || (mark !== '' && !info.includes('`'));
      if (isOpened) open = { mark, info: info.trim(), from: at };
      if (line.trim() !== '') last = undefined;
    } else if (isEndOf(open.mark, line)) {
      const { mark, info, from } = open;
      open = undefined;
      if (!isScript(info)) continue;
      count += 1;
      last = { from, to: at, isExact: mark.startsWith('`') && info === scriptFence };
    }
  }
  if (open !== undefined) return isScript(open.info) ? { problem: unclosed } : undefined;
  if (last === undefined) return undefined;
  if (count > 1) return { problem: several };
  return judged(last, lines);
}

function judged({ from, to, isExact }: ScriptBlock, lines: readonly string[]): FoundScript {
  if (!isExact) return { problem: misnamed };
  const code = lines.slice(from + 1, to).join('\n');
  if (code.trim() === '') return { problem: empty };
  return { code, before: lines.slice(0, from).join('\n') };
}

const isScript = (info: string): boolean => info.split(/\s/)[0] === scriptFence;

function isEndOf(mark: string, line: string): boolean {
  const [, end = ''] = /^ {0,3}(`+|~+)[ \t]*$/.exec(line) ?? [];
  return end.startsWith(mark);
}
