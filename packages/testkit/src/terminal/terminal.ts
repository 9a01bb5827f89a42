/**
 * Runs a program in a pseudo-terminal, with a terminal emulator. The emulator answers the program's queries and
 * contains the visible screen.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import xterm from '@xterm/headless';
import { spawnInTerminal } from './spawn-in-terminal.ts';

export interface TerminalOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
}

const size = { rows: 60, cols: 160 };

export class Terminal {
  readonly #child: ChildProcess;
  readonly #emulator = new xterm.Terminal({ ...size, scrollback: 0, allowProposedApi: true });
  readonly #ended: Promise<unknown>;
  /** The program's whole output. */
  #output = '';
  #isOver = false;
  #changed = Promise.withResolvers<void>();

  constructor(command: readonly string[], { cwd, env }: TerminalOptions) {
    const inTerminal = { ...env, TERM: 'xterm-256color', LANG: 'C.UTF-8' };
    this.#child = spawnInTerminal(command, { cwd, env: inTerminal, size });
    this.#emulator.onData((answer) => this.press(answer));
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
      this.#emulator.write(text, () => this.#wake());
    });
    this.#ended = once(this.#child, 'close').then(() => {
      this.#isOver = true;
      this.#wake();
    });
  }

  /** The process that owns the pseudo-terminal. */
  get child(): ChildProcess {
    return this.#child;
  }

  /** The visible screen, without blank rows. */
  get screen(): string {
    const { active } = this.#emulator.buffer;
    const rows = Array.from({ length: size.rows }, (_, row) =>
      active.getLine(active.baseY + row)?.translateToString(true),
    );
    return rows.filter((row) => row !== undefined && row !== '').join('\n');
  }

  /** Sends keys unchanged. `\r` is Enter, and `\u001b` is Escape. */
  press(keys: string): void {
    if (!this.#isOver) this.#child.stdin!.write(keys);
  }

  /** Sends a text in the way in which a terminal sends a pasted text. */
  paste(text: string): void {
    this.press(`\u001b[200~${text}\u001b[201~`);
  }

  /**
   * Waits until the screen matches. Only the time limit of the test ends the wait. Rejects if the program ends first.
   */
  async shows(wanted: RegExp | ((screen: string) => boolean)): Promise<void> {
    const isSo = (screen: string): boolean =>
      wanted instanceof RegExp ? wanted.test(screen) : wanted(screen);
    while (!isSo(this.screen)) {
      if (this.#isOver)
        throw new Error(`The program ended without showing ${String(wanted)}:\n${this.screen}`);
      await this.#changed.promise;
    }
  }

  /**
   * Presses keys, and waits until the output after them matches. Spaces are ignored, because programs draw some spaces
   * as cursor movements. Rejects if the program ends first.
   */
  async draws(keys: string, wanted: RegExp): Promise<void> {
    const before = keys === '' ? 0 : this.#output.length;
    this.press(keys);
    await this.shows(() =>
      wanted.test(stripVTControlCharacters(this.#output.slice(before)).replaceAll(/\s/g, '')),
    );
  }

  /** Resolves when the program has ended. */
  get ended(): Promise<unknown> {
    return this.#ended;
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

/** Returns the command that is marked in the menu of an agent's own terminal, as in `› /model` or `❯ /model`. */
const marked = (screen: string): string | undefined => /[›❯] +\/([a-z][\w-]*)/.exec(screen)?.[1];

/**
 * Returns the commands in an agent's menu, in the menu's order. Types `/`, and moves down until the menu begins again.
 */
export async function pageThroughMenu(terminal: Terminal): Promise<string[]> {
  await terminal.shows(/^[›❯]/m);
  terminal.press('/');
  const names = new Set<string>();
  for (;;) {
    await terminal.shows((screen) => ![undefined, [...names].at(-1)].includes(marked(screen)));
    const name = marked(terminal.screen) ?? '';
    if (names.has(name)) return [...names];
    names.add(name);
    terminal.press('\u001B[B');
  }
}
