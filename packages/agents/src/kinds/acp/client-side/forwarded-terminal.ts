import { setTimeout as delay } from 'node:timers/promises';
import { thrownMessage } from '@liminal/protocol';
import type { ClientTerminal, ExitStatus } from '../../../contract/client-terminals.ts';
import { clientRefused } from './client-error.ts';
import type { TerminalOutput } from './local-terminal.ts';

export interface ForwardedTerminalOptions {
  onOutput: (text: string) => void;
  onExit: (exit: ExitStatus) => void;
  /** How often the output is polled, ms: clients do not send output by themselves. */
  everyMs?: number;
}

/**
 * If the client has dropped the start of its output, this many characters of the rest are searched for in the earlier
 * output.
 */
const overlap = 100;

const lost = '\n[The editor that ran this program has disconnected: the outcome is unknown.]\n';

/** A program that one of our own clients runs for an agent. */
export class ForwardedTerminal {
  readonly exited: Promise<ExitStatus>;
  readonly #terminal: ClientTerminal;
  readonly #options: ForwardedTerminalOptions;
  #seen: TerminalOutput = { output: '', truncated: false };
  #exit: ExitStatus | undefined;

  constructor(terminal: ClientTerminal, options: ForwardedTerminalOptions) {
    this.#terminal = terminal;
    this.#options = options;
    this.exited = this.#run();
    void this.#watch();
  }

  async output(): Promise<TerminalOutput> {
    if (this.#exit === undefined) await this.#look();
    return { ...this.#seen, ...(this.#exit && { exitStatus: this.#exit }) };
  }

  async kill(): Promise<void> {
    if (this.#exit !== undefined) return;
    await this.#terminal.kill().catch((error: unknown) => {
      throw clientRefused(thrownMessage(error));
    });
    await this.exited;
  }

  /** Releases the terminal. Never rejects, because a client that has disconnected has already released the terminal. */
  async release(): Promise<void> {
    await this.#terminal.release().catch(() => undefined);
  }

  async #run(): Promise<ExitStatus> {
    const exit = await this.#terminal.exited().catch(() => undefined);
    await this.#look();
    if (exit === undefined) this.#see({ ...this.#seen, output: this.#seen.output + lost });
    this.#exit = exit ?? { exitCode: null, signal: null };
    this.#options.onExit(this.#exit);
    return this.#exit;
  }

  async #watch(): Promise<void> {
    const { everyMs = 500 } = this.#options;
    while (this.#exit === undefined) {
      await delay(everyMs, undefined, { ref: false });
      if (this.#exit === undefined) await this.#look();
    }
  }

  /** Polls the output. If the client does not answer, the known output stays. */
  async #look(): Promise<void> {
    const now = await this.#terminal.output().catch(() => undefined);
    if (now !== undefined && this.#exit === undefined) this.#see(now);
  }

  #see(now: TerminalOutput): void {
    const added = newPart(now.output, this.#seen.output);
    this.#seen = now;
    if (added !== '') this.#options.onOutput(added);
  }
}

/**
 * Returns the part of `now` that comes after `before`; `now` may lack the start of `before`. Returns all of `now` if
 * the texts do not overlap.
 */
function newPart(now: string, before: string): string {
  const at = now.startsWith(before) ? 0 : before.indexOf(now.slice(0, overlap));
  const same = at < 0 ? '' : before.slice(at);
  return now.startsWith(same) ? now.slice(same.length) : now;
}
