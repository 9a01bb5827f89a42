import type { StreamEvent } from '@liminal/protocol';
import type { EventLog, FollowOptions, LoggedRun, ReadOptions } from '../../event-log.ts';
import type { RunProgress } from '../../log/append-rules.ts';
import { advanceRun, isNotEmpty } from '../../log/append-rules.ts';
import type { EventRow } from '../../log/event-rows.ts';
import { decodeEvent, encodeEvents } from '../../log/event-rows.ts';
import { Followers } from '../../log/followers.ts';

interface MemoryRun {
  progress: RunProgress;
  /** The events in encoded form, so that a caller's later change of an event does not change the log. */
  rows: EventRow[];
}

const followPage = 128;

export class MemoryEventLog implements EventLog {
  readonly #runs = new Map<string, MemoryRun>();
  readonly #onRun: () => void;
  readonly #followers = new Followers({
    page: (runId, after) => this.#slice(runId, after, followPage),
    stateOf: (runId) => this.#stateOf(runId),
    isSettled: (runId) => this.#isSettled(runId),
    unfollowed: (runId) => this.#dropSettled(runId),
  });

  /** @param onRun - Called when there is a new run. */
  constructor(onRun: () => void = () => {}) {
    this.#onRun = onRun;
  }

  async append(runId: string, events: readonly StreamEvent[]): Promise<void> {
    if (!isNotEmpty(events)) return;
    const run = this.#runs.get(runId);
    const progress = advanceRun(run?.progress, runId, events);
    const rows = encodeEvents(runId, events);
    if (run) {
      run.progress = progress;
      run.rows.push(...rows);
    } else {
      this.#runs.set(runId, { progress, rows });
      this.#onRun();
    }
    this.#followers.notify(runId);
  }

  async read(runId: string, { after = -1, limit }: ReadOptions = {}): Promise<StreamEvent[]> {
    if (this.#isSettled(runId)) return [];
    return this.#slice(runId, after, limit ?? Infinity);
  }

  follow(runId: string, options?: FollowOptions): AsyncIterable<StreamEvent> {
    return this.#followers.follow(runId, options);
  }

  async unsettled(): Promise<LoggedRun[]> {
    return [...this.#runs]
      .filter(([, run]) => !run.progress.settled)
      .map(([runId, { progress }]) => ({
        ...progress.constants,
        runId,
        lastSeq: progress.lastSeq,
        ended: progress.ended,
      }));
  }

  async settle(runId: string): Promise<void> {
    const run = this.#runs.get(runId);
    if (!run) return;
    run.progress.settled = true;
    if (!this.#followers.follows(runId)) this.#dropSettled(runId);
    this.#followers.notify(runId);
  }

  async close(): Promise<void> {
    this.#followers.close();
  }

  #slice(runId: string, after: number, limit: number): StreamEvent[] {
    const run = this.#runs.get(runId);
    if (!run) return [];
    const start = Math.max(0, after + 1);
    return run.rows
      .slice(start, start + limit)
      .map((row) => decodeEvent(runId, run.progress.constants, row));
  }

  #stateOf(runId: string): 'unknown' | 'open' | 'closed' {
    const progress = this.#runs.get(runId)?.progress;
    if (!progress) return 'unknown';
    return progress.ended || progress.settled ? 'closed' : 'open';
  }

  #isSettled(runId: string): boolean {
    return this.#runs.get(runId)?.progress.settled ?? false;
  }

  #dropSettled(runId: string): void {
    const run = this.#runs.get(runId);
    if (run?.progress.settled) run.rows = [];
  }
}
