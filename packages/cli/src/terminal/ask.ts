import { createInterface } from 'node:readline';
import { type ApprovalOption, markHidden } from '@liminal/protocol';

export interface Terminal {
  input: NodeJS.ReadableStream;
  /** Not standard output, which is for the answer. */
  output: NodeJS.WritableStream;
}

/** An answer, or what to do instead, in one sentence. */
export type Understood<T> = { answer: T } | { problem: string };

/** Whether somebody can answer a question. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

const here = (): Terminal => ({ input: process.stdin, output: process.stderr });

export interface Choice {
  option: ApprovalOption;
  /** What the person says with it, for the agent. */
  note?: string;
}

/** Lets a person choose one of the options; `undefined` when `signal` aborts the question or the input ends. */
export async function ask(
  title: string,
  options: readonly ApprovalOption[],
  signal: AbortSignal,
  terminal: Terminal = here(),
): Promise<Choice | undefined> {
  const names = options.map((option, index) => `  ${index + 1}  ${option.name}\n`);
  const withNote = options.flatMap(({ takesNote }, index) => (takesNote === true ? index + 1 : []));
  const hint = withNote.length === 0 ? '' : `; after ${withNote.join(' or ')} also why`;
  const question = {
    text: `? ${title}\n${names.join('')}`,
    prompt: `Your choice (1-${options.length}${hint}): `,
  };
  const understand = (line: string): Understood<Choice> => {
    const [, number, note = ''] = /^(\d+)(?:[\s,.:]+(.*))?$/.exec(line) ?? [];
    const option = options[Number(number) - 1];
    if (!option) return { problem: `Give a number from 1 to ${options.length}.` };
    if (note === '') return { answer: { option } };
    if (option.takesNote === true) return { answer: { option, note } };
    return { problem: `The agent is not told more than the number ${number}. Give that alone.` };
  };
  return askLine(question, understand, signal, terminal);
}

const meaning: Record<string, boolean> = { y: true, yes: true, n: false, no: false, '': false };

/** Asks for a yes; any other end of the question is a no. */
export async function confirm(question: string): Promise<boolean> {
  const understand = (line: string): Understood<boolean> => {
    const answer = meaning[line.toLowerCase()];
    return answer === undefined ? { problem: 'Answer y or n.' } : { answer };
  };
  const stop = new AbortController();
  const asked = { text: `? ${question}\n`, prompt: 'y/N: ' };
  return (await askLine(asked, understand, stop.signal)) ?? false;
}

/**
 * Asks a question without hidden characters until a line is understood; `undefined` when `signal` aborts it or the
 * input ends.
 */
export async function askLine<T>(
  { text, prompt }: { text: string; prompt: string },
  understand: (line: string) => Understood<T>,
  signal: AbortSignal,
  { input, output }: Terminal = here(),
): Promise<T | undefined> {
  output.write(markHidden(text));
  // Not `terminal`, which would take Ctrl-C from us.
  const lines = createInterface({ input, output, terminal: false, signal });
  const again = () => output.write(markHidden(prompt));
  again();
  for await (const line of lines) {
    const understood = understand(line.trim());
    if ('answer' in understood) return understood.answer;
    output.write(`${markHidden(understood.problem)}\n`);
    again();
  }
  return undefined;
}
