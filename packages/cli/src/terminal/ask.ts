import { createInterface } from 'node:readline/promises';
import type { ApprovalOption } from '@liminal/protocol';
import { printable } from './lines.ts';

/** Whether somebody can answer a question. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Lets a person choose one of the options; on the terminal itself, so that the output stays clean. */
export async function ask(
  title: string,
  options: readonly ApprovalOption[],
  signal: AbortSignal,
): Promise<ApprovalOption | undefined> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    console.error(printable(`? ${title}`));
    for (const [index, option] of options.entries()) {
      console.error(printable(`  ${index + 1}  ${option.name}`));
    }
    for (;;) {
      const answer = await terminal.question(`Your choice (1-${options.length}): `, { signal });
      const option = options[Number(answer) - 1];
      if (option) return option;
    }
  } catch (error) {
    // Somebody else answered, or the turn ended meanwhile.
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    terminal.close();
  }
}
