import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { ExitStatus } from '../../../contract/client-terminals.ts';
import { endTree } from '../../../process/index.ts';
import { OutputTail } from './output-tail.ts';

export interface TerminalStart {
  command: string;
  args: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** How many bytes of output are kept. */
  outputLimit: number;
  onOutput: (text: string) => void;
  onExit: (exit: ExitStatus) => void;
}

/** The output in ACP's shape. */
export interface TerminalOutput {
  output: string;
  truncated: boolean;
  exitStatus?: ExitStatus;
}

const endGraceMs = 500;
/** How long to wait, after the exit, for output that is still in the pipe. */
const lastOutputMs = 100;

/** A program that an agent runs through its client. */
export class LocalTerminal {
  readonly exited: Promise<ExitStatus>;
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #output: OutputTail;
  readonly #onOutput: (text: string) => void;
  #exit: ExitStatus | undefined;

  /**
   * Starts a program; without arguments, `command` is a shell command line. Rejects if the program cannot be started.
   */
  static async start(start: TerminalStart): Promise<LocalTerminal> {
    const terminal = new LocalTerminal(start);
    await terminal.#spawned();
    return terminal;
  }

  private constructor({ command, args, cwd, env, outputLimit, onOutput, onExit }: TerminalStart) {
    this.#onOutput = onOutput;
    this.#output = new OutputTail(outputLimit);
    const [program, ...rest] = args.length > 0 ? [command, ...args] : ['/bin/sh', '-c', command];
    this.#child = spawn(program, rest, {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => this.#take(text));
      stream.on('error', () => {});
    }
    this.exited = this.#run(onExit);
  }

  output(): TerminalOutput {
    return {
      output: this.#output.read(),
      truncated: this.#output.isTruncated,
      ...(this.#exit && { exitStatus: this.#exit }),
    };
  }

  /** Ends the program and its descendants. */
  async kill(): Promise<void> {
    if (this.#exit !== undefined) return;
    await endTree({ child: this.#child }, { graceMs: endGraceMs });
    await this.exited;
  }

  async release(): Promise<void> {
    await this.kill();
  }

  #spawned(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#child.once('spawn', resolve);
      this.#child.once('error', reject);
    });
  }

  #take(text: string): void {
    this.#output.add(text);
    this.#onOutput(text);
  }

  async #run(onExit: (exit: ExitStatus) => void): Promise<ExitStatus> {
    const closed = new Promise<void>((resolve) => void this.#child.once('close', () => resolve()));
    const exit = await new Promise<ExitStatus>((resolve) => {
      this.#child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
      this.#child.once('error', () => resolve({ exitCode: null, signal: null }));
    });
    // A background process of the program may keep the pipe open.
    await Promise.race([closed, delay(lastOutputMs)]);
    this.#exit = exit;
    onExit(exit);
    return exit;
  }
}
