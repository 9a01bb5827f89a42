import { spawn, type ChildProcess } from 'node:child_process';
import type { SpawnedProcess, SpawnOptions } from '@anthropic-ai/claude-agent-sdk';
import { ProgramOutput } from './program-output.ts';

/** If an exited program sends nothing for this long (ms), a child process is assumed to hold its output open. */
const heldOutputMs = 150;
/** How much error output is kept to explain the program's end, in characters. */
const maxErrorOutput = 2_000;

/**
 * Claude Code's program. The SDK detects the program's end only by the end of the output, but a child process may hold
 * the output open. This class also detects the exit.
 */
export class ClaudeProgram {
  readonly #exited = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<void>();
  readonly #onErrorOutput: (output: string) => void;
  readonly #output = new ProgramOutput();
  #child: ChildProcess | undefined;
  #ending = new Error('It exited.');
  #lastMessage = 0;
  #errorOutput = '';

  /** @param onErrorOutput - Called with all kept error output whenever it grows. */
  constructor(onErrorOutput: (output: string) => void) {
    this.#onErrorOutput = onErrorOutput;
  }

  /** The process; undefined before the start. */
  get child(): ChildProcess | undefined {
    return this.#child;
  }

  /** The newest error output. */
  get errorOutput(): string {
    return this.#errorOutput.trim();
  }

  /** An error that says how the program exited, as far as Liminal knows. */
  get ending(): Error {
    return this.#ending;
  }

  /** Resolves when the program has exited and no more output has arrived for a while. */
  get exited(): Promise<void> {
    return this.#exited.promise;
  }

  /** Resolves when the program has exited and its outputs have ended or are held open by a child. */
  async closed(): Promise<void> {
    await Promise.race([this.#closed.promise, this.#exited.promise]);
  }

  /** Called by the SDK with the command to start. */
  readonly start = ({ command, args, cwd, env, signal }: SpawnOptions): SpawnedProcess => {
    const child = spawn(command, args, { cwd, env, signal, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child = child;
    child.stderr.setEncoding('utf8').on('data', (output: string) => {
      this.#errorOutput = (this.#errorOutput + output).slice(-maxErrorOutput);
      this.#onErrorOutput(this.#errorOutput);
    });
    child.stdout.pipe(this.#output);
    // If a child process closes the pipe, the stream emits `close` without `end`.
    child.stdout.once('close', () => this.#output.end());
    child.once('close', () => this.#closed.resolve());
    child.once('exit', (code, by) => {
      const how = by === null ? `exited with code ${code}` : `was ended by ${by}`;
      this.#ending = new Error(`The process ${how}.`);
      this.#waitForSilence();
    });
    return Object.assign(child, { stdout: this.#output });
  };

  /** Records that a message has arrived. Must be called for each message. */
  noteMessage(): void {
    this.#lastMessage = performance.now();
  }

  /**
   * Resolves `exited` once the program has sent nothing for `heldOutputMs`, because the last output may still arrive.
   */
  #waitForSilence(): void {
    const start = performance.now();
    const look = (): void => {
      const silentSince = Math.max(start, this.#lastMessage, this.#output.busyUntil);
      if (performance.now() - silentSince >= heldOutputMs) this.#exited.resolve();
      else later();
    };
    // `setImmediate` lets the server first read all output that has arrived, even if the server was busy.
    const later = () => setTimeout(() => setImmediate(look), heldOutputMs);
    later();
  }
}
