/** A command in a pseudo-terminal, as `script` (util-linux, macOS) opens them, and the screen that a person sees. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

const size = { rows: 24, columns: 80 };

export class PseudoTerminal {
  output = '';
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  #changed = Promise.withResolvers<void>();
  #isOver = false;
  /** How much of the output `shows` has found its texts in. */
  #seen = 0;

  constructor(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv) {
    const command = args.map((arg) => `'${arg.replaceAll("'", String.raw`'\''`)}'`).join(' ');
    const line = `stty rows ${size.rows} cols ${size.columns}; exec ${command}`;
    const how =
      process.platform === 'darwin'
        ? ['-q', '/dev/null', 'sh', '-c', line]
        : ['-qec', line, '/dev/null'];
    this.#child = spawn('script', how, {
      cwd,
      env: { ...env, SHELL: '/bin/sh' },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
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

  /** Waits for a text below all that was there when this was called last. */
  async shows(pattern: RegExp): Promise<void> {
    for (;;) {
      const found = pattern.exec(this.output.slice(this.#seen));
      if (found) {
        this.#seen += found.index + found[0].length;
        return;
      }
      if (this.#isOver) throw new Error(`It ended without ${pattern}:\n${this.output}`);
      await this.#changed.promise;
    }
  }

  /** All rows from the beginning, as the terminal breaks them. */
  get rows(): string[] {
    return this.output.split(/\r*\n/).flatMap((line) => {
      const rows: string[] = [];
      for (let at = 0; at === 0 || at < line.length; at += size.columns) {
        rows.push(line.slice(at, at + size.columns));
      }
      return rows;
    });
  }

  /** The rows on the screen. */
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
