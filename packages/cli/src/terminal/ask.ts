import { spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { type ApprovalOption, markHidden } from '@liminal/protocol';
import { fitted, markedRows, mark, oneRow } from './rows.ts';

export interface Terminal {
  input: NodeJS.ReadableStream;
  /** Questions are written to standard error: standard output is reserved for the agent's answer. */
  output: NodeJS.WritableStream & { columns?: number; rows?: number };
}

/** The answer that a typed line contains, or a sentence that says what is wrong with the line. */
export type ParsedAnswer<T> = { answer: T } | { problem: string };

/** The size that is assumed for a terminal that does not report its size. */
const defaultSize = { columns: 80, rows: 24 };
/** How long to wait for lines that were already typed to arrive, in ms. */
const arrivalMs = 20;

/** Whether a person at this terminal can answer questions. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

export const ownTerminal = (): Terminal => ({ input: process.stdin, output: process.stderr });

/** Drops the lines that were typed before the question was on the screen. */
export async function dropTypedLines({ input }: Terminal = ownTerminal()): Promise<void> {
  const drop = (): void => {};
  input.on('data', drop).resume();
  await delay(arrivalMs);
  input.off('data', drop).pause();
}

export interface ChosenOption {
  option: ApprovalOption;
  /** The person's note to the agent. */
  note?: string;
}

/**
 * Asks a person to choose one of the options; `undefined` when `signal` aborts the question or the input ends. `about`
 * describes the subject of the question: it consists of lines without hidden characters, and every line is shown
 * completely.
 */
export async function askChoice(
  title: string,
  options: readonly ApprovalOption[],
  signal: AbortSignal,
  terminal: Terminal = ownTerminal(),
  about: readonly string[] = [],
): Promise<ChosenOption | undefined> {
  const columns = columnsOf(terminal);
  const rows = [
    ...markedRows(about, columns),
    ...titleRows(title, terminal),
    ...options.flatMap(({ name }, index) => choiceRows(index, name, terminal)),
  ];
  const withNote = options.flatMap(({ takesNote }, index) => (takesNote === true ? index + 1 : []));
  const hint = withNote.length === 0 ? '' : `; after ${withNote.join(' or ')} also why`;
  const pages = new Pages(rows, terminal);
  const question = { rows, prompt: `Your choice (1-${options.length}${hint}): `, hasPages: true };
  const parse = (line: string): ParsedAnswer<ChosenOption> => {
    if (line.toLowerCase() === 'v') return { problem: pages.next() };
    const [, number, rest = ''] = /^(\d+)((?:[\s,.:].*)?)$/s.exec(line) ?? [];
    const note = rest.replace(/^[\s,.:]+/, '');
    const option = options[Number(number) - 1];
    if (!option) return { problem: `Give a number from 1 to ${options.length}.` };
    if (note === '') return { answer: { option } };
    if (option.takesNote === true) return { answer: { option, note } };
    return { problem: `Option ${number} takes no note. Give only the number.` };
  };
  return askLine(question, parse, signal, terminal);
}

const yesNoAnswers: Record<string, boolean> = {
  y: true,
  yes: true,
  n: false,
  no: false,
  '': false,
};

/** Asks a yes-or-no question. Any answer other than yes is treated as no. */
export async function confirm(question: string): Promise<boolean> {
  const parse = (line: string): ParsedAnswer<boolean> => {
    const answer = yesNoAnswers[line.toLowerCase()];
    return answer === undefined ? { problem: 'Answer y or n.' } : { answer };
  };
  const stop = new AbortController();
  const asked = { rows: titleRows(question, ownTerminal()), prompt: 'y/N: ' };
  return (await askLine(asked, parse, stop.signal)) ?? false;
}

interface LineQuestion {
  /** The rows contain no hidden characters, and none is wider than the terminal. */
  rows: readonly string[];
  prompt: string;
  /** Whether the person can type `v` to read the rows page by page. */
  hasPages?: boolean;
  /** Whether the answer is hidden while it is typed. */
  isSecret?: boolean;
}

/**
 * Asks a question until a typed line is valid. Resolves with `undefined` when `signal` aborts the question or the input
 * ends.
 */
export async function askLine<T>(
  question: LineQuestion,
  parse: (line: string) => ParsedAnswer<T>,
  signal: AbortSignal,
  terminal: Terminal = ownTerminal(),
): Promise<T | undefined> {
  const { input, output } = terminal;
  output.write([...question.rows, ...notesBelow(question, terminal), ''].join('\n'));
  // With `terminal: true`, readline would handle Ctrl-C itself.
  const lines = createInterface({ input, output, terminal: false, signal });
  const again = () => output.write(question.prompt);
  const showAgain = question.isSecret === true ? hideTyping(input) : undefined;
  try {
    again();
    for await (const line of lines) {
      // While the echo is off, the terminal does not show the typed line break either.
      if (showAgain !== undefined) output.write('\n');
      const parsed = parse(line.trim());
      if ('answer' in parsed) return parsed.answer;
      output.write(`${markHidden(parsed.problem)}\n`);
      again();
    }
  } finally {
    showAgain?.();
  }
  // If the person has not answered, the cursor is still behind the prompt.
  output.write('\n');
  return undefined;
}

/**
 * Switches off the terminal's echo. Returns a function that switches the echo on again. When the program ends, the echo
 * is also switched on again.
 */
function hideTyping(input: NodeJS.ReadableStream): () => void {
  if (input !== process.stdin || !process.stdin.isTTY) return () => {};
  const setEcho = (word: 'echo' | '-echo'): void => {
    // If the system has no stty, the answer stays visible.
    spawnSync('stty', [word], { stdio: ['inherit', 'ignore', 'ignore'] });
  };
  const show = (): void => setEcho('echo');
  setEcho('-echo');
  process.once('exit', show);
  return () => {
    process.off('exit', show);
    show();
  };
}

/** Returns a line that says how many rows do not fit on the screen, and how to read these rows. */
function notesBelow(
  { rows, prompt, hasPages = false }: LineQuestion,
  terminal: Terminal,
): string[] {
  const room = heightOf(terminal) - Math.ceil(prompt.length / columnsOf(terminal));
  if (rows.length <= room) return [];
  const [how, rest] = ['Scroll up to read them', hasPages ? ', or answer v for pages.' : '.'];
  // The line about the hidden rows itself takes up a row.
  return [`${rows.length + 1 - room} more lines above. ${how}${rest}`];
}

export function titleRows(title: string, terminal: Terminal): string[] {
  return fitted(oneRow(title), { first: '? ', further: mark }, columnsOf(terminal));
}

/** Returns a numbered choice below a question; `index` counts from 0. */
export function choiceRows(index: number, name: string, terminal: Terminal): string[] {
  const heads = { first: `  ${index + 1}  `, further: `  ${mark}  ` };
  return fitted(oneRow(name), heads, columnsOf(terminal));
}

export const columnsOf = ({ output }: Terminal): number => output.columns || defaultSize.columns;
const heightOf = ({ output }: Terminal): number => output.rows || defaultSize.rows;

/** Splits rows into pages that fit on the screen. */
class Pages {
  readonly #rows: readonly string[];
  readonly #height: number;
  #shown = 0;

  constructor(rows: readonly string[], terminal: Terminal) {
    this.#rows = rows;
    // Leave two rows for the line numbers and the prompt, and one row for the answer.
    this.#height = Math.max(heightOf(terminal) - 3, 1);
  }

  /** Returns the next page; after the last page, the first one. */
  next(): string {
    const from = this.#shown;
    const page = this.#rows.slice(from, from + this.#height);
    const to = from + page.length;
    this.#shown = to < this.#rows.length ? to : 0;
    return [...page, `(lines ${from + 1} to ${to} of ${this.#rows.length})`].join('\n');
  }
}
