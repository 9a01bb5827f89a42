/**
 * A program in a pseudo-terminal, as `script` (util-linux, macOS) opens them, with a terminal emulator that answers what
 * the program asks of it and has the screen that a person sees.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import xterm from '@xterm/headless';

export interface TerminalOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
}

const size = { rows: 60, cols: 160 };

export class Terminal {
  readonly #child: ChildProcess;
  readonly #emulator = new xterm.Terminal({ ...size, scrollback: 0, allowProposedApi: true });
  readonly #ended: Promise<unknown>;
  #isOver = false;
  #changed = Promise.withResolvers<void>();

  constructor(command: readonly string[], { cwd, env }: TerminalOptions) {
    const words = command.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
    // `script` runs its command with the shell of its environment, which the program must not see.
    const line = `stty rows ${size.rows} cols ${size.cols}; unset SHELL; exec ${words}`;
    const args =
      process.platform === 'darwin'
        ? ['-q', '/dev/null', 'sh', '-c', line]
        : ['-qec', line, '/dev/null'];
    this.#child = spawn('script', args, {
      cwd,
      env: { ...env, SHELL: '/bin/sh', TERM: 'xterm-256color', LANG: 'C.UTF-8' },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#emulator.onData((answer) => this.press(answer));
    this.#child.stdout!.on('data', (chunk: Buffer) =>
      this.#emulator.write(chunk, () => this.#wake()),
    );
    this.#ended = once(this.#child, 'close').then(() => {
      this.#isOver = true;
      this.#wake();
    });
  }

  /** The process that holds the pseudo-terminal. */
  get child(): ChildProcess {
    return this.#child;
  }

  /** What a person sees, without blank rows. */
  get screen(): string {
    const { active } = this.#emulator.buffer;
    const rows = Array.from({ length: size.rows }, (_, row) =>
      active.getLine(active.baseY + row)?.translateToString(true),
    );
    return rows.filter((row) => row !== undefined && row !== '').join('\n');
  }

  /** Sends keys as they are: `\r` is Enter, `\u001b` Escape. */
  press(keys: string): void {
    if (!this.#isOver) this.#child.stdin!.write(keys);
  }

  /** Sends a text as a terminal does when it is pasted. */
  paste(text: string): void {
    this.press(`\u001b[200~${text}\u001b[201~`);
  }

  /** Waits until the screen is so; the test's own limit ends the wait. Rejects if the program ends before. */
  async shows(wanted: RegExp | ((screen: string) => boolean)): Promise<void> {
    const isSo = (screen: string): boolean =>
      wanted instanceof RegExp ? wanted.test(screen) : wanted(screen);
    while (!isSo(this.screen)) {
      if (this.#isOver) throw new Error(`It ended without ${String(wanted)}:\n${this.screen}`);
      await this.#changed.promise;
    }
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
