import { messageOf } from '@liminal/protocol';
import { randomUUID } from 'node:crypto';
import { endTree, type ProcessMark, processMark } from '../../process/index.ts';
import { invalidParams, notFound } from './client-error.ts';
import { ShownOutput } from '../../base/shown-output.ts';
import { Terminal, type ExitStatus } from './terminal.ts';

export interface TerminalWatcher {
  terminalOutput(terminalId: string, text: string): void;
  terminalExit(terminalId: string, exit: ExitStatus): void;
}

interface CreateRequest {
  command: string;
  args?: string[];
  env?: { name: string; value: string }[];
  cwd?: string | null;
  outputByteLimit?: number | null;
}

export interface TerminalsOptions {
  projectDir: string;
  /** A program's environment, from its own variables and its mark. */
  env: (own: Record<string, string>, mark: ProcessMark['env']) => NodeJS.ProcessEnv;
  watcher: TerminalWatcher;
}

/** How many bytes of a terminal's output are kept. */
const defaultOutputLimit = 1024 * 1024;
const maxOutputLimit = 8 * 1024 * 1024;
const maxTerminals = 64;

/** The terminals of one session. Their programs carry a mark of the session, and end with it (invariant 8). */
export class Terminals {
  readonly #options: TerminalsOptions;
  readonly #terminals = new Map<string, Terminal>();
  #starting = 0;
  #mark: ProcessMark | undefined;

  constructor(options: TerminalsOptions) {
    this.#options = options;
  }

  async create(request: CreateRequest): Promise<{ terminalId: string }> {
    if (this.#terminals.size + this.#starting >= maxTerminals) {
      throw invalidParams(`There are ${maxTerminals} terminals already: release some first.`);
    }
    this.#starting += 1;
    try {
      const { terminalId, terminal } = await this.#start(request);
      this.#terminals.set(terminalId, terminal);
      return { terminalId };
    } finally {
      this.#starting -= 1;
    }
  }

  output({ terminalId }: { terminalId: string }): ReturnType<Terminal['output']> {
    return this.#find(terminalId).output();
  }

  /** Waits for its end, or until `signal` aborts. */
  async waitForExit(
    { terminalId }: { terminalId: string },
    signal: AbortSignal,
  ): Promise<ExitStatus> {
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([this.#find(terminalId).exited, aborted]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  async kill({ terminalId }: { terminalId: string }): Promise<Record<string, never>> {
    await this.#find(terminalId).kill();
    return {};
  }

  async release({ terminalId }: { terminalId: string }): Promise<Record<string, never>> {
    const terminal = this.#find(terminalId);
    this.#terminals.delete(terminalId);
    await terminal.kill();
    return {};
  }

  /** Ends all programs, and what they left behind. */
  async end(): Promise<void> {
    this.#terminals.clear();
    if (this.#mark !== undefined) await endTree({ mark: this.#mark.id }, { graceMs: 500 });
  }

  async #start(request: CreateRequest): Promise<{ terminalId: string; terminal: Terminal }> {
    const { command, args = [], env = [], cwd, outputByteLimit } = request;
    this.#mark ??= processMark();
    const { projectDir, watcher } = this.#options;
    const own = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    const terminalId = randomUUID();
    const shown = new ShownOutput((text) => watcher.terminalOutput(terminalId, text));
    const terminal = await Terminal.start({
      command,
      args,
      cwd: cwd ?? projectDir,
      env: this.#options.env(own, this.#mark.env),
      outputLimit: Math.min(outputByteLimit ?? defaultOutputLimit, maxOutputLimit),
      onOutput: (text) => shown.add(text),
      onExit: (exit) => {
        shown.end();
        watcher.terminalExit(terminalId, exit);
      },
    }).catch((error: unknown) => {
      const reason = messageOf(error);
      throw invalidParams(`“${command}” could not be started: ${reason}.`);
    });
    return { terminalId, terminal };
  }

  #find(terminalId: string): Terminal {
    const terminal = this.#terminals.get(terminalId);
    if (terminal === undefined) throw notFound(`There is no terminal ${terminalId}.`);
    return terminal;
  }
}
