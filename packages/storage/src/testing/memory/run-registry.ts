import { EventEmitter, on } from 'node:events';
import type { RunClaim, RunRegistry } from '../../coordination.ts';
import type { EventLog } from '../../event-log.ts';

/** Assigns the runs of a log to workers in one process. */
export class MemoryRunRegistry implements RunRegistry {
  readonly #log: EventLog;
  readonly #taken = new Set<string>();
  readonly #changes = new EventEmitter().setMaxListeners(0);

  constructor(log: EventLog) {
    this.#log = log;
  }

  /** Wakes the workers, because a run may be unclaimed. */
  notify(): void {
    this.#changes.emit('news');
  }

  async *claims(_worker: string, signal: AbortSignal): AsyncGenerator<RunClaim, void> {
    const claimed = new Set<string>();
    const changes = on(this.#changes, 'news', { signal });
    try {
      while (!signal.aborted) {
        for (const { runId, sessionId } of await this.#log.unsettled()) {
          if (signal.aborted) return;
          if (this.#taken.has(runId)) continue;
          this.#taken.add(runId);
          claimed.add(runId);
          yield {
            runId,
            sessionId,
            others: async () => this.#others(runId, sessionId),
            projected: async () => {},
            done: async () => {
              claimed.delete(runId);
              this.#taken.delete(runId);
            },
          };
        }
        await changes.next();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      for (const runId of claimed) this.#taken.delete(runId);
      if (claimed.size > 0) this.notify();
    }
  }

  async #others(runId: string, sessionId: string): Promise<string[]> {
    const runs = await this.#log.unsettled();
    const others = runs.filter((run) => run.sessionId === sessionId && run.runId !== runId);
    return others.map((run) => run.runId);
  }
}
