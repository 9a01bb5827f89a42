import { spawn, type ChildProcess } from 'node:child_process';
import type { SpawnedProcess, SpawnOptions } from '@anthropic-ai/claude-agent-sdk';
import { ProgramOutput } from './program-output.ts';

/** How long nothing may be heard of a program that has exited before its output is taken for held, in ms. */
const heldOutputMs = 150;
/** Characters of its error output that are kept to explain its end. */
const keptOutput = 2_000;

/**
 * Claude Code's program. The SDK learns of its end by the end of its output, which does not come while something that
 * it has started holds that; here it is seen all the same.
 */
export class ClaudeProgram {
  readonly #exited = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<void>();
  readonly #onErrorOutput: (output: string) => void;
  readonly #output = new ProgramOutput();
  #child: ChildProcess | undefined;
  #ending = new Error('It exited.');
  #lastHeard = 0;
  #errorOutput = '';

  /** @param onErrorOutput - Is given all that was kept of the error output, when there is more. */
  constructor(onErrorOutput: (output: string) => void) {
    this.#onErrorOutput = onErrorOutput;
  }

  /** Absent until it has been started. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** What it wrote last on its error output. */
  get errorOutput(): string {
    return this.#errorOutput.trim();
  }

  /** How it exited, as far as that is known. */
  get ending(): Error {
    return this.#ending;
  }

  /** Resolves when it has exited and nothing more is heard of it. */
  get exited(): Promise<void> {
    return this.#exited.promise;
  }

  /** Resolves when it has exited and its outputs have ended, or are held by something else. */
  async closed(): Promise<void> {
    await Promise.race([this.#closed.promise, this.#exited.promise]);
  }

  /** For the SDK, which says what is to be started. */
  readonly start = ({ command, args, cwd, env, signal }: SpawnOptions): SpawnedProcess => {
    const child = spawn(command, args, { cwd, env, signal, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child = child;
    child.stderr.setEncoding('utf8').on('data', (output: string) => {
      this.#errorOutput = (this.#errorOutput + output).slice(-keptOutput);
      this.#onErrorOutput(this.#errorOutput);
    });
    child.stdout.pipe(this.#output);
    // Where something else has closed it, no end comes.
    child.stdout.once('close', () => this.#output.end());
    child.once('close', () => this.#closed.resolve());
    child.once('exit', (code, by) => {
      const how = by === null ? `exited with code ${code}` : `was ended by ${by}`;
      this.#ending = new Error(`Its process ${how}.`);
      this.#waitForSilence();
    });
    return Object.assign(child, { stdout: this.#output });
  };

  /** To be called for all that it says. */
  heard(): void {
    this.#lastHeard = performance.now();
  }

  /** What it had written before its end may still be on its way. */
  #waitForSilence(): void {
    const start = performance.now();
    const look = (): void => {
      const silentSince = Math.max(start, this.#lastHeard, this.#output.busyUntil);
      if (performance.now() - silentSince >= heldOutputMs) this.#exited.resolve();
      else later();
    };
    // After whatever had come has been read, however busy the server was in between.
    const later = () => setTimeout(() => setImmediate(look), heldOutputMs);
    later();
  }
}
