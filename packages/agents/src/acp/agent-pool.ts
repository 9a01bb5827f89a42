import { AcpAgent } from './acp-agent.ts';
import type { ProcessCommand } from '../base/agent-process.ts';

interface AgentPoolOptions {
  launch: Omit<ProcessCommand, 'cwd'>;
  /** From the program's start to its answer to `initialize`, ms. */
  startLimitMs: number;
  /** Whether sessions share one process; otherwise each has its own. */
  isShared: boolean;
}

/** The running processes of one agent. Each ends with its last user. */
export class AgentPool {
  readonly #options: AgentPoolOptions;
  readonly #users = new Map<AcpAgent, number>();
  #shared: Promise<AcpAgent> | undefined;
  #version: string | undefined;

  constructor(options: AgentPoolOptions) {
    this.#options = options;
  }

  /** As reported by the process that was started last. */
  get version(): string | undefined {
    return this.#version;
  }

  /** A process that runs and has been initialised, for callers that would not start one. */
  get running(): AcpAgent | undefined {
    return [...this.#users.keys()].find(({ isAlive }) => isAlive);
  }

  /** A process for a session, started in `cwd` if need be. Rejects with why it did not start. */
  async take(cwd: string, signal: AbortSignal): Promise<AcpAgent> {
    if (this.#options.isShared) return this.#takeShared(cwd);
    const agent = await this.start(cwd, signal);
    this.#users.set(agent, 1);
    return agent;
  }

  /** Ends the process if it has no other user. */
  async giveBack(agent: AcpAgent, isWarned: boolean): Promise<void> {
    const users = (this.#users.get(agent) ?? 1) - 1;
    if (users > 0) this.#users.set(agent, users);
    else {
      this.#users.delete(agent);
      await agent.end(isWarned);
    }
  }

  async #takeShared(cwd: string): Promise<AcpAgent> {
    for (;;) {
      // Without the caller's signal: other callers may wait for the same start.
      this.#shared ??= this.start(cwd, new AbortController().signal);
      const shared = this.#shared;
      try {
        const agent = await shared;
        const users = this.#users.get(agent) ?? 0;
        if (agent.isAlive) {
          this.#users.set(agent, users + 1);
          return agent;
        }
      } catch (error) {
        if (this.#shared === shared) this.#shared = undefined;
        throw error;
      }
      if (this.#shared === shared) this.#shared = undefined;
    }
  }

  /** A process that belongs to the caller alone. Rejects with why it did not start. */
  async start(
    cwd: string,
    signal: AbortSignal,
    limitMs = this.#options.startLimitMs,
  ): Promise<AcpAgent> {
    const agent = await AcpAgent.start({ ...this.#options.launch, cwd }, limitMs, signal);
    this.#version = agent.version;
    return agent;
  }
}
