import type { RunEnvelope, StreamEvent } from '@liminal/protocol';

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
  /** The most events to return. */
  limit?: number;
}

export interface FollowOptions {
  after?: number;
  /** Aborting it ends the iteration without an error, even while it waits. */
  signal?: AbortSignal;
}

/**
 * The durable, ordered record of what happened in each run. One writer per run; any number of readers.
 * Every driver passes `testing/event-log-suite.ts`.
 */
export interface EventLog {
  /**
   * Adds events to a run, all or none; they are durable (they survive the end of this process) when it resolves, and
   * no reader sees them before (invariant 6). The first append of a run registers it; an empty one does nothing.
   * Throws StorageError `SEQ_CONFLICT` if the first event's `seq` is not the run's next or a `seq` is skipped
   * (invariant 1), `RUN_ENDED` after the terminal event or `settle` (invariant 2), `ENVELOPE_MISMATCH` if an event's
   * session, turn, run, trace context or id is not its run's, `LOG_WRITE_FAILED` if the medium refuses (a full disk):
   * then the same append can be tried again.
   */
  append(runId: string, events: readonly StreamEvent[]): Promise<void>;
  /** Events of a run in order; none if it is unknown or settled. */
  read(runId: string, options?: ReadOptions): Promise<StreamEvent[]>;
  /**
   * Events of a run, past ones and then each new one as it is appended; ends after the terminal event, or when the log
   * is closed. It begins at the first pull. It waits for an unknown run, and ends at once for a settled one.
   * Stop a waiting follower by its `signal`: `return()` takes effect only at the next event.
   * If the log has dropped projected events, it begins with the oldest one left: the first `seq` shows that.
   */
  follow(runId: string, options?: FollowOptions): AsyncIterable<StreamEvent>;
  /** Runs that are not settled, oldest first: runs that a crash left open, and runs that are not projected yet. */
  unsettled(): Promise<LoggedRun[]>;
  /**
   * The run's final Response is stored: its events may go. Followers under way still get the rest.
   * A run that has not ended is closed: later appends are refused. A second call, or an unknown run, does nothing.
   */
  settle(runId: string): Promise<void>;
  /** Ends all followers. */
  close(): Promise<void>;
}
