/** Runs `acpx`, a third-party command line client, as users run it: one process for each command. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { updateProblems } from '@liminal/testkit/acp-schema';

const { resolve } = createRequire(import.meta.url);
const program = join(dirname(resolve('acpx/package.json')), 'dist/cli.js');

export interface AcpxOptions {
  /** The command with which acpx starts the agent. */
  command: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
}

/** Runs acpx in one folder. Sessions belong to the folder: each command continues the folder's last session. */
export class Acpx {
  readonly #options: AcpxOptions;

  constructor(options: AcpxOptions) {
    this.#options = options;
  }

  start(...args: string[]): AcpxCommand {
    const { command, args: agentArgs, cwd, env } = this.#options;
    const agent = ['--agent', [command, ...agentArgs].join(' ')];
    const flags = ['--cwd', cwd, '--approve-all', '--format', 'json', '--json-strict'];
    return new AcpxCommand(
      spawn(process.execPath, [program, ...agent, ...flags, ...args], { cwd, env }),
    );
  }

  /**
   * Runs a command to its end. Resolves with the JSON objects that the command printed. Throws if the command fails.
   */
  async run(...args: string[]): Promise<AcpxLine[]> {
    return this.start(...args).done();
  }
}

/** A message of the protocol from either side, or the result of a command. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests inspect the messages with expectations of their own
export type AcpxLine = Record<string, any>;

class AcpxCommand {
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | null>;
  #printed = '';
  #stderr = '';
  #changed = Promise.withResolvers<void>();
  #isOver = false;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.#printed += text;
      this.#notify();
    });
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    this.#exited = once(child, 'close').then(([code]) => {
      this.#isOver = true;
      this.#notify();
      return code as number | null;
    });
  }

  /** Resolves when the command has printed this text. */
  async prints(words: string): Promise<void> {
    while (!this.#printed.includes(words)) {
      if (this.#isOver)
        throw new Error(`The command ended without printing ${words}:\n${this.#output}`);
      await this.#changed.promise;
    }
  }

  /** Throws if the command fails, or if the agent has sent a message that the protocol does not allow. */
  async done(): Promise<AcpxLine[]> {
    const code = await this.#exited;
    if (code !== 0) throw new Error(`The command ended with ${code}:\n${this.#output}`);
    const lines = this.#printed
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as AcpxLine);
    const problems = updatesIn(lines).flatMap((update) => updateProblems(update, 'unstable'));
    if (problems.length > 0) throw new Error(problems.join('\n'));
    return lines;
  }

  get #output(): string {
    return this.#printed + this.#stderr;
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

/** Returns the agent's updates, oldest first. */
export function updatesIn(lines: readonly AcpxLine[]): AcpxLine[] {
  return lines
    .filter(({ method }) => method === 'session/update')
    .map(({ params }) => params.update as AcpxLine);
}
