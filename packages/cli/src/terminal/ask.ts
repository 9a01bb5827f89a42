import { createInterface } from 'node:readline';
import type { ApprovalOption } from '@liminal/protocol';
import { printable } from './lines.ts';

export interface Terminal {
  input: NodeJS.ReadableStream;
  /** Not standard output, which holds the answer. */
  output: NodeJS.WritableStream;
}

/** Whether somebody can answer a question. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Lets a person choose one of the options; `undefined` when `signal` takes the question back or the input ends. */
export async function ask(
  title: string,
  options: readonly ApprovalOption[],
  signal: AbortSignal,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<ApprovalOption | undefined> {
  const names = options.map((option, index) => `  ${index + 1}  ${option.name}\n`);
  output.write(printable(`? ${title}\n${names.join('')}`));
  // Not `terminal`, which would take Ctrl-C from us.
  const lines = createInterface({ input, output, terminal: false, signal });
  const again = () => output.write(`Your choice (1-${options.length}): `);
  again();
  for await (const line of lines) {
    const option = options[Number(line) - 1];
    if (option) return option;
    again();
  }
  return undefined;
}
