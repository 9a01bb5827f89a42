import type { StreamEvent } from '@liminal/protocol';
import { StorageError } from '../errors.ts';
import type { EventLog, FollowOptions, LoggedRun, ReadOptions } from '../event-log.ts';
import type { RunProgress } from '../log/append-rules.ts';
import { advanceRun, isNotEmpty } from '../log/append-rules.ts';
import type { EventRow } from '../log/event-rows.ts';
import { decodeEvent, encodeEvent } from '../log/event-rows.ts';
import { Followers } from '../log/followers.ts';

interface MemoryRun {
  progress: RunProgress;
  /** Kept encoded, so that a caller who changes an event later does not change the log. */
  rows: EventRow[];
}

const followPage = 128;

export class MemoryEventLog implements EventLog {
  readonly #runs = new Map<string, MemoryRun>();
  readonly #onRun: () => void;
  readonly #followers = new Followers({
    page: (runId, after) => this.#slice(runId, after, followPage),
    stateOf: (runId) => this.#stateOf(runId),
    unfollowed: (runId) => this.#dropSettled(runId),
  });

  /** @param onRun - There is a new run. */
  constructor(onRun: () => void = () => {}) {
    this.#onRun = onRun;
  }

  async append(runId: string, events: readonly StreamEvent[]): Promise<void> {
    if (!isNotEmpty(events)) return;
    const run = this.#runs.get(runId);
    const progress = advanceRun(run?.progress, runId, events);
    const rows = encodeAll(runId, events);
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
    if (this.#stateOf(runId) === 'settled') return [];
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

  #stateOf(runId: string): 'unknown' | 'open' | 'closed' | 'settled' {
    const progress = this.#runs.get(runId)?.progress;
    if (!progress) return 'unknown';
    if (progress.settled) return 'settled';
    return progress.ended ? 'closed' : 'open';
  }

  #dropSettled(runId: string): void {
    const run = this.#runs.get(runId);
    if (run?.progress.settled) run.rows = [];
  }
}

function encodeAll(runId: string, events: readonly StreamEvent[]): EventRow[] {
  try {
    return events.map(encodeEvent);
  } catch (cause) {
    const message = `An event of run ${runId} cannot be written as JSON: ${String(cause)}`;
    throw new StorageError('LOG_WRITE_FAILED', message, { cause });
  }
}
