import { EventEmitter, on } from 'node:events';
import type { RunClaim, RunRegistry } from '../coordination.ts';
import type { EventLog } from '../event-log.ts';

/** Assigns the runs of a log to workers in one process. */
export class MemoryRunRegistry implements RunRegistry {
  readonly #log: EventLog;
  readonly #taken = new Set<string>();
  readonly #news = new EventEmitter().setMaxListeners(0);

  constructor(log: EventLog) {
    this.#log = log;
  }

  /** Wakes workers because there may be an unclaimed run. */
  notify(): void {
    this.#news.emit('news');
  }

  async *claims(_worker: string, signal: AbortSignal): AsyncGenerator<RunClaim, void> {
    const mine = new Set<string>();
    const news = on(this.#news, 'news', { signal });
    try {
      while (!signal.aborted) {
        for (const { runId, sessionId } of await this.#log.unsettled()) {
          if (signal.aborted) return;
          if (this.#taken.has(runId)) continue;
          this.#taken.add(runId);
          mine.add(runId);
          yield {
            runId,
            sessionId,
            others: async () => this.#others(runId, sessionId),
            projected: async () => {},
            done: async () => {
              mine.delete(runId);
              this.#taken.delete(runId);
            },
          };
        }
        await news.next();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      for (const runId of mine) this.#taken.delete(runId);
      if (mine.size > 0) this.notify();
    }
  }

  async #others(runId: string, sessionId: string): Promise<string[]> {
    const runs = await this.#log.unsettled();
    const others = runs.filter((run) => run.sessionId === sessionId && run.runId !== runId);
    return others.map((run) => run.runId);
  }
}
