import type { RunEnvelope, StreamEvent } from '@liminal/protocol';
import { LiminalError } from '@liminal/protocol';

/** A run as the log knows it. */
export interface LoggedRun extends RunEnvelope {
  turnId: string;
  /** `seq` of its last event; -1 before the first. */
  lastSeq: number;
  /** Whether its terminal event is in the log. */
  ended: boolean;
}

export interface ReadOptions {
  /** Give events whose `seq` is greater; -1 (the default) gives all. */
  after?: number;
  /** At most so many events. */
  limit?: number;
}

export interface FollowOptions {
  after?: number;
  signal?: AbortSignal;
}

/**
 * The durable, ordered record of what happened in each run. One writer per run; any number of readers.
 * Every driver passes `testing/event-log-suite.ts`.
 */
export interface EventLog {
  /**
   * Adds events to a run; they are durable (they survive the end of this process) when it resolves. The first
   * append of a run registers it. Throws StorageError `SEQ_CONFLICT` if the first event's `seq` is not the run's
   * next or a `seq` is skipped (invariant 1), `RUN_ENDED` after the terminal event (invariant 2), `LOG_WRITE_FAILED` if the
   * medium refuses (a full disk): then nothing of the batch is in the log.
   */
  append(runId: string, events: readonly StreamEvent[]): Promise<void>;
  /** Events of a run in order. A run that is unknown or settled gives none. */
  read(runId: string, options?: ReadOptions): Promise<StreamEvent[]>;
  /** Events of a run, past ones and then each new one as it is appended; ends after the terminal event. */
  follow(runId: string, options?: FollowOptions): AsyncIterable<StreamEvent>;
  /** Runs that are not settled yet, oldest first: those a crash left open, and those not projected. */
  unsettled(): Promise<LoggedRun[]>;
  /** The run's final Response is stored: its events may go. Followers that are under way still get the rest. */
  settle(runId: string): Promise<void>;
  close(): Promise<void>;
}

/** Codes: `SEQ_CONFLICT`, `RUN_ENDED`, `LOG_WRITE_FAILED`, `STORE_WRITE_FAILED`, `DATA_DIR_IN_USE`, `DATA_TOO_NEW`. */
export class StorageError extends LiminalError {}
