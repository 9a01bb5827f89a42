/** Runs a command in a pseudo-terminal, and shows the screen as a person sees it. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { spawnInTerminal } from '@liminal/testkit/spawn-in-terminal';

const size = { rows: 24, cols: 80 };

export class PseudoTerminal {
  output = '';
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  #changed = Promise.withResolvers<void>();
  #isOver = false;
  /** How much of the output earlier calls of `shows` have already searched, in characters. */
  #seen = 0;

  constructor(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv, cols = size.cols) {
    this.#child = spawnInTerminal(args, { cwd, env, size: { ...size, cols } });
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.output += text;
      this.#wake();
    });
    this.#exited = once(this.#child, 'close').then(() => {
      this.#isOver = true;
      this.#wake();
    });
  }

  type(line: string): void {
    this.#child.stdin!.write(`${line}\n`);
  }

  /** Waits for a text in the output after the text that the last call found. */
  async shows(pattern: RegExp): Promise<void> {
    for (;;) {
      const found = pattern.exec(this.output.slice(this.#seen));
      if (found) {
        this.#seen += found.index + found[0].length;
        return;
      }
      if (this.#isOver) throw new Error(`The command ended without ${pattern}:\n${this.output}`);
      await this.#changed.promise;
    }
  }

  /** Returns all rows since the start of the program, as the terminal wraps them. */
  get rows(): string[] {
    return this.output.split(/\r*\n/).flatMap((line) => {
      const rows: string[] = [];
      for (let at = 0; at === 0 || at < line.length; at += size.cols) {
        rows.push(line.slice(at, at + size.cols));
      }
      return rows;
    });
  }

  /** Returns the rows on the screen. */
  get screen(): string[] {
    return this.rows.slice(-size.rows);
  }

  get exited(): Promise<unknown> {
    return this.#exited;
  }

  async end(): Promise<void> {
    this.#child.kill('SIGTERM');
    await this.#exited;
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
