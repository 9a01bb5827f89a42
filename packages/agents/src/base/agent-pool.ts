/** A process of an agent. */
export interface PooledProcess {
  readonly isAlive: boolean;
  /**
   * Ends the process and all its descendants. `isWarned` skips the grace period: the agent's protocol has already
   * announced the end.
   */
  end(isWarned?: boolean): Promise<void>;
}

/** An attempt to start the shared process. */
interface Start<P> {
  started: Promise<P>;
  abort: AbortController;
  waiting: number;
}

/** The running processes of one agent. A process ends when no caller uses the process any more. */
export class AgentPool<P extends PooledProcess> {
  readonly #start: (cwd: string, signal: AbortSignal) => Promise<P>;
  readonly #isShared: boolean;
  readonly #users = new Map<P, number>();
  #shared: Start<P> | undefined;

  /**
   * @param start - Starts a process; rejects with the reason if that fails.
   * @param isShared - Whether all users share one process; otherwise each has its own.
   */
  constructor(start: (cwd: string, signal: AbortSignal) => Promise<P>, isShared: boolean) {
    this.#start = start;
    this.#isShared = isShared;
  }

  /** A running process, for callers that must not start one. */
  get running(): P | undefined {
    return this.find(() => true);
  }

  /** Returns a running process that fulfils the condition. */
  find(isMeant: (process: P) => boolean): P | undefined {
    return [...this.#users.keys()].find((process) => process.isAlive && isMeant(process));
  }

  /** Returns a process, and starts it in `cwd` if necessary. Rejects with the reason if the start fails. */
  async take(cwd: string, signal: AbortSignal): Promise<P> {
    if (this.#isShared) return this.#takeShared(cwd, signal);
    const process = await this.#start(cwd, signal);
    this.#users.set(process, 1);
    return process;
  }

  /** Returns whether the process has only one user. */
  isLastUser(process: P): boolean {
    return (this.#users.get(process) ?? 1) === 1;
  }

  /** Ends the process if nothing else uses the process. */
  async release(process: P, isWarned = false): Promise<void> {
    const users = (this.#users.get(process) ?? 1) - 1;
    if (users > 0) this.#users.set(process, users);
    else {
      this.#users.delete(process);
      await process.end(isWarned);
    }
  }

  async #takeShared(cwd: string, signal: AbortSignal): Promise<P> {
    for (;;) {
      this.#shared ??= this.#begin(cwd);
      const start = this.#shared;
      try {
        const process = await this.#join(start, signal);
        const users = this.#users.get(process) ?? 0;
        if (process.isAlive) {
          this.#users.set(process, users + 1);
          return process;
        }
      } catch (error) {
        if (!signal.aborted) this.#forget(start);
        throw error;
      }
      this.#forget(start);
    }
  }

  #begin(cwd: string): Start<P> {
    const abort = new AbortController();
    return { started: this.#start(cwd, abort.signal), abort, waiting: 0 };
  }

  /**
   * Waits until an attempt has started the process. If no caller waits for the attempt any more, the attempt is
   * aborted.
   */
  async #join(start: Start<P>, signal: AbortSignal): Promise<P> {
    signal.throwIfAborted();
    const left = Promise.withResolvers<never>();
    const leave = (): void => {
      if (start.waiting > 1) return left.reject(signal.reason);
      this.#forget(start);
      start.abort.abort(signal.reason);
    };
    start.waiting += 1;
    signal.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([start.started, left.promise]);
    } finally {
      signal.removeEventListener('abort', leave);
      start.waiting -= 1;
    }
  }

  #forget(start: Start<P>): void {
    if (this.#shared === start) this.#shared = undefined;
  }
}
