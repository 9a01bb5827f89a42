import { thrownMessage } from '@liminal/protocol';
import { randomUUID } from 'node:crypto';
import { endTree, markWithin, type ProcessMark, processMark } from '../../../process/index.ts';
import type {
  ClientTerminals,
  ExitStatus,
  TerminalRequest,
} from '../../../contract/client-terminals.ts';
import { type ClientError, clientRefused, invalidParams, notFound } from './client-error.ts';
import { ForwardedTerminal } from './forwarded-terminal.ts';
import { ShownOutput } from '../../../base/shown-output.ts';
import { LocalTerminal, type TerminalOutput, type TerminalStart } from './local-terminal.ts';

export interface TerminalEvents {
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
  /** The agent type, which is part of the programs' mark: the programs count as processes of this agent type. */
  cliType: string;
  projectDir: string;
  /** Makes a program's environment from its own variables and its mark. */
  env: (own: Record<string, string>, mark: ProcessMark['env']) => NodeJS.ProcessEnv;
  events: TerminalEvents;
  /** The running turn's id, if any, and whether the agent still works on a prompt that was cancelled. */
  turn: () => { id: string | undefined; isCancelled: boolean };
  /** Our clients' terminals, which are used first. */
  clients?: ClientTerminals | undefined;
}

/** How many bytes of a terminal's output are kept by default. */
const defaultOutputLimit = 1024 * 1024;
const maxOutputLimit = 8 * 1024 * 1024;
/**
 * How many bytes of output all terminals of a session keep together. Once these bytes are used up, each further
 * terminal keeps `leastOutputLimit` bytes. A terminal needs up to three times its limit in memory.
 */
const maxSessionOutput = 32 * 1024 * 1024;
const leastOutputLimit = 64 * 1024;
const maxTerminals = 64;
const endGraceMs = 500;
/** Shown at the end of a terminal's output. */
const stoppedNote = '\n(Stopped with the turn, including all processes that it started.)\n';

/** The terminals that one turn has started. */
interface TurnTerminals {
  id: string | undefined;
  mark: ProcessMark;
  isCancelled: boolean;
  terminals: Map<string, LocalTerminal | ForwardedTerminal>;
}

/**
 * The terminals of one session. The programs and their descendants end with the session, or with the turn that started
 * them if the turn is cancelled (invariant 8). If the turn is not cancelled, a program may run longer than the turn,
 * until the agent releases it.
 */
export class Terminals {
  readonly #options: TerminalsOptions;
  readonly #terminals = new Map<string, LocalTerminal | ForwardedTerminal>();
  /** How many bytes of output each terminal keeps, by id, including terminals that are starting. */
  readonly #outputLimits = new Map<string, number>();
  #starting = 0;
  readonly #mark: ProcessMark;
  #turn: TurnTerminals;
  #isUsed = false;

  constructor(options: TerminalsOptions) {
    this.#options = options;
    this.#mark = processMark(options.cliType);
    this.#turn = this.#newTurn(undefined);
  }

  /** Starts a program. Throws ClientError, for example in a cancelled turn. */
  async create(request: CreateRequest): Promise<{ terminalId: string }> {
    if (this.#options.turn().isCancelled) throw cancelled();
    if (this.#terminals.size + this.#starting >= maxTerminals) {
      throw invalidParams(`There are ${maxTerminals} terminals already: release some first.`);
    }
    this.#starting += 1;
    this.#isUsed = true;
    const turn = this.#runningTurn();
    const terminalId = randomUUID();
    this.#outputLimits.set(terminalId, this.#outputLimit(request.outputByteLimit));
    try {
      const terminal = await this.#start(terminalId, request, turn);
      if (turn.isCancelled) {
        void terminal.release().catch(() => undefined);
        throw cancelled();
      }
      this.#terminals.set(terminalId, terminal);
      turn.terminals.set(terminalId, terminal);
      return { terminalId };
    } finally {
      this.#starting -= 1;
      if (!this.#terminals.has(terminalId)) this.#outputLimits.delete(terminalId);
    }
  }

  async output({ terminalId }: { terminalId: string }): Promise<TerminalOutput> {
    return this.#find(terminalId).output();
  }

  /** Waits for the program's end, or until `signal` aborts. */
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
    this.#outputLimits.delete(terminalId);
    this.#turn.terminals.delete(terminalId);
    await terminal.release();
    return {};
  }

  /** Ends all programs of the running turn and the processes that they left behind. Their output stays readable. */
  async cancelTurn(): Promise<void> {
    const turn = this.#runningTurn();
    turn.isCancelled = true;
    if (!this.#isUsed) return;
    const terminals = [...turn.terminals.values()];
    await Promise.allSettled([
      endHere(terminals, turn.mark),
      ...terminals.filter(isForwarded).map(async (one) => one.kill()),
      ...terminals.map(async ({ exited }) => exited),
    ]);
  }

  /** Ends all programs and the processes that they left behind. */
  async end(): Promise<void> {
    const terminals = [...this.#terminals.values()];
    // Do not wait for the clients: a client may be slow.
    for (const terminal of terminals.filter(isForwarded)) void terminal.release();
    this.#terminals.clear();
    this.#outputLimits.clear();
    if (this.#isUsed) await endHere(terminals, this.#mark);
  }

  #runningTurn(): TurnTerminals {
    const { id } = this.#options.turn();
    if (this.#turn.id === id) return this.#turn;
    // Release the terminals of the cancelled turn: many agents do not.
    for (const terminalId of this.#turn.isCancelled ? this.#turn.terminals.keys() : []) {
      void this.release({ terminalId }).catch(() => undefined);
    }
    return (this.#turn = this.#newTurn(id));
  }

  #newTurn(id: string | undefined): TurnTerminals {
    return { id, mark: markWithin(this.#mark), isCancelled: false, terminals: new Map() };
  }

  #outputLimit(asked: number | null = null): number {
    const reserved = [...this.#outputLimits.values()].reduce((sum, one) => sum + one, 0);
    const room = Math.max(maxSessionOutput - reserved, leastOutputLimit);
    return Math.min(asked ?? defaultOutputLimit, maxOutputLimit, room);
  }

  async #start(
    terminalId: string,
    { command, args = [], env = [], cwd }: CreateRequest,
    turn: TurnTerminals,
  ): Promise<LocalTerminal | ForwardedTerminal> {
    const { projectDir, events, clients } = this.#options;
    const shown = new ShownOutput((text) => events.terminalOutput(terminalId, text));
    const callbacks = {
      onOutput: (text: string) => shown.add(text),
      onExit: (exit: ExitStatus) => {
        shown.end();
        if (turn.isCancelled) events.terminalOutput(terminalId, stoppedNote);
        events.terminalExit(terminalId, exit);
      },
    };
    const request = {
      command,
      args,
      env: Object.fromEntries(env.map(({ name, value }) => [name, value])),
      cwd: cwd ?? projectDir,
      outputLimit: this.#outputLimits.get(terminalId) ?? leastOutputLimit,
    };
    const clientTerminal = await clients?.create(request).catch((error: unknown) => {
      throw clientRefused(thrownMessage(error));
    });
    return clientTerminal
      ? new ForwardedTerminal(clientTerminal, callbacks)
      : this.#startHere(request, callbacks, turn.mark);
  }

  async #startHere(
    { env, ...request }: TerminalRequest,
    callbacks: Pick<TerminalStart, 'onOutput' | 'onExit'>,
    mark: ProcessMark,
  ): Promise<LocalTerminal> {
    const fullEnv = this.#options.env({ ...env }, mark.env);
    return LocalTerminal.start({ ...request, env: fullEnv, ...callbacks }).catch(
      (error: unknown) => {
        throw invalidParams(`“${request.command}” could not be started: ${thrownMessage(error)}.`);
      },
    );
  }

  #find(terminalId: string): LocalTerminal | ForwardedTerminal {
    const terminal = this.#terminals.get(terminalId);
    if (terminal === undefined) throw notFound(`There is no terminal ${terminalId}.`);
    return terminal;
  }
}

const isForwarded = (terminal: LocalTerminal | ForwardedTerminal): terminal is ForwardedTerminal =>
  terminal instanceof ForwardedTerminal;

/**
 * Ends the programs that run on this machine, and then all other processes with the mark of these programs, if the
 * system has a process table.
 */
async function endHere(
  terminals: readonly (LocalTerminal | ForwardedTerminal)[],
  { id: mark }: ProcessMark,
): Promise<void> {
  const local = terminals.filter((one) => !isForwarded(one));
  await Promise.all(local.map(async (one) => one.kill()));
  await endTree({ mark }, { graceMs: endGraceMs });
}

const cancelled = (): ClientError =>
  clientRefused('The turn was cancelled and cannot start programs.');
