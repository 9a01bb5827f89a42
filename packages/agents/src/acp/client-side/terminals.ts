import { messageOf } from '@liminal/protocol';
import { randomUUID } from 'node:crypto';
import { endTree, type ProcessMark, processMark } from '../../process/index.ts';
import type { ClientTerminals, ExitStatus, TerminalRequest } from '../../client-terminals.ts';
import { clientRefused, invalidParams, notFound } from './client-error.ts';
import { ClientsTerminal } from './clients-terminal.ts';
import { ShownOutput } from '../../base/shown-output.ts';
import { Terminal, type TerminalOutput, type TerminalStart } from './terminal.ts';

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
  /** The agent type that the programs count for. */
  cliType: string;
  projectDir: string;
  /** A program's environment, from its own variables and its mark. */
  env: (own: Record<string, string>, mark: ProcessMark['env']) => NodeJS.ProcessEnv;
  watcher: TerminalWatcher;
  /** Those of our own clients, which come first. */
  clients?: ClientTerminals | undefined;
}

/** How many bytes of a terminal's output are kept. */
const defaultOutputLimit = 1024 * 1024;
const maxOutputLimit = 8 * 1024 * 1024;
const maxTerminals = 64;

/** The terminals of one session. Their programs carry a mark of the session, and end with it (invariant 8). */
export class Terminals {
  readonly #options: TerminalsOptions;
  readonly #terminals = new Map<string, Terminal | ClientsTerminal>();
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

  async output({ terminalId }: { terminalId: string }): Promise<TerminalOutput> {
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
    await terminal.release();
    return {};
  }

  /** Ends all programs, and what they left behind. */
  async end(): Promise<void> {
    for (const terminal of this.#terminals.values()) {
      // Not waited for: a client may be slow. Those here end below, with what they have started.
      if (terminal instanceof ClientsTerminal) void terminal.release();
    }
    this.#terminals.clear();
    if (this.#mark !== undefined) await endTree({ mark: this.#mark.id }, { graceMs: 500 });
  }

  async #start({ command, args = [], env = [], cwd, outputByteLimit }: CreateRequest) {
    const { projectDir, watcher, clients } = this.#options;
    const terminalId = randomUUID();
    const shown = new ShownOutput((text) => watcher.terminalOutput(terminalId, text));
    const listeners = {
      onOutput: (text: string) => shown.add(text),
      onExit: (exit: ExitStatus) => {
        shown.end();
        watcher.terminalExit(terminalId, exit);
      },
    };
    const request = {
      command,
      args,
      env: Object.fromEntries(env.map(({ name, value }) => [name, value])),
      cwd: cwd ?? projectDir,
      outputLimit: Math.min(outputByteLimit ?? defaultOutputLimit, maxOutputLimit),
    };
    const theirs = await clients?.create(request).catch((error: unknown) => {
      throw clientRefused(messageOf(error));
    });
    const terminal = theirs
      ? new ClientsTerminal(theirs, listeners)
      : await this.#startHere(request, listeners);
    return { terminalId, terminal };
  }

  async #startHere(
    { env, ...request }: TerminalRequest,
    listeners: Pick<TerminalStart, 'onOutput' | 'onExit'>,
  ): Promise<Terminal> {
    this.#mark ??= processMark(this.#options.cliType);
    const whole = this.#options.env({ ...env }, this.#mark.env);
    return Terminal.start({ ...request, env: whole, ...listeners }).catch((error: unknown) => {
      throw invalidParams(`“${request.command}” could not be started: ${messageOf(error)}.`);
    });
  }

  #find(terminalId: string): Terminal | ClientsTerminal {
    const terminal = this.#terminals.get(terminalId);
    if (terminal === undefined) throw notFound(`There is no terminal ${terminalId}.`);
    return terminal;
  }
}
