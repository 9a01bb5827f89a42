import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** A measured child process: its lines of output, its memory and CPU time, and its end. */
export class Measured {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly firstLine: string;

  private constructor(child: ChildProcess, lines: AsyncIterator<string>, firstLine: string) {
    this.#child = child;
    this.#lines = lines;
    this.firstLine = firstLine;
  }

  static async start(args: string[], env: NodeJS.ProcessEnv = process.env): Promise<Measured> {
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    return new Measured(child, lines, await nextLine(lines));
  }

  /** Resolves with the next line that the process prints. */
  async nextLine(): Promise<string> {
    return nextLine(this.#lines);
  }

  /** Resolves with the memory that a source server uses after garbage collection, including buffers, in MiB. */
  async usedMiB(): Promise<number> {
    this.#child.kill('SIGUSR2');
    return Number(await nextLine(this.#lines)) / 2 ** 20;
  }

  /** Resolves with the longest stall of a source server's event loop since the last call, in ms. */
  async stallMs(): Promise<number> {
    this.#child.kill('SIGUSR1');
    return Number(await nextLine(this.#lines));
  }

  /**
   * Resolves with the functions of Liminal that the process has called since the last call of this method, and the
   * number of calls. The process must import `count-functions.ts`.
   */
  async calls(): Promise<Record<string, number>> {
    this.#child.kill('SIGHUP');
    return JSON.parse(await nextLine(this.#lines)) as Record<string, number>;
  }

  /** Returns the resident memory, in MiB. */
  get residentMiB(): number {
    const [, kib] = /VmRSS:\s+(\d+)/.exec(this.#read('status')) ?? [];
    return Number(kib) / 1024;
  }

  /** Returns the user and system time so far, in ms. */
  get cpuMs(): number {
    return cpuMsOf(this.#child.pid);
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await gone;
  }

  #read(file: string): string {
    return readFileSync(`/proc/${this.#child.pid}/${file}`, 'utf8');
  }
}

/** Returns the user and system time of a process so far, in ms. */
export function cpuMsOf(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function nextLine(lines: AsyncIterator<string>): Promise<string> {
  const step = await lines.next();
  if (step.done === true) throw new Error('The process ended without printing a line.');
  return step.value;
}
