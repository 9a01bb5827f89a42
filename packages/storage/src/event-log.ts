import type { RunEnvelope, StreamEvent } from '@liminal/protocol';

/** A run's data in the log. */
export interface LoggedRun extends RunEnvelope {
  turnId: string;
  /** `seq` of the last event; -1 before the first. */
  lastSeq: number;
  /** Whether the terminal event is in the log. */
  ended: boolean;
}

export interface ReadOptions {
  /** Returns only events with a greater `seq`; -1 (the default) returns all. */
  after?: number;
  /** The most events to return. */
  limit?: number;
}

export interface FollowOptions {
  after?: number;
  /** When the signal aborts, the iteration ends without an error, even while the iteration waits. */
  signal?: AbortSignal;
}

/**
 * The durable, ordered record of each run's events. A run has one writer and any number of readers.
 * Every driver passes `testing/event-log-suite.ts`.
 */
export interface EventLog {
  /**
   * Adds events to a run, all or none. When this resolves, the events are durable (they survive the end of this
   * process); readers do not see them before (invariant 6). The first append of a run registers the run; an empty
   * append does nothing. Throws StorageError `SEQ_CONFLICT` if the first event's `seq` is not the run's next or a
   * `seq` is skipped (invariant 1), `RUN_ENDED` after the terminal event or `settle` (invariant 2),
   * `ENVELOPE_MISMATCH` if an event's session, turn, run, trace context or id is not its run's, `LOG_WRITE_FAILED` if
   * the medium refuses the write (a full disk): then the same append can be retried.
   */
  append(runId: string, events: readonly StreamEvent[]): Promise<void>;
  /** Returns events of a run in order; returns none if the run is unknown or settled. */
  read(runId: string, options?: ReadOptions): Promise<StreamEvent[]>;
  /**
   * Yields events of a run: past events, then each new event when it is appended. Ends after the terminal event, or
   * when the log is closed. Following begins when the first event is requested. For an unknown run, the iteration waits
   * until the run begins; for a settled run, the iteration ends at once. To stop a waiting follower, abort its
   * `signal`: `return()` takes effect only at the next event. If the log has dropped projected events, the first
   * yielded event is the oldest remaining one, as its `seq` shows.
   */
  follow(runId: string, options?: FollowOptions): AsyncIterable<StreamEvent>;
  /** Runs that are not settled, oldest first: runs that a crash has left open, and runs that are not projected yet. */
  unsettled(): Promise<LoggedRun[]>;
  /**
   * Reports that the run's final Response is stored, so that its events may be deleted. Active followers still get
   * the run's remaining events. A run that has not ended is closed: later appends are refused. Settling a run twice,
   * or settling an unknown run, does nothing.
   */
  settle(runId: string): Promise<void>;
  /** Ends all followers. */
  close(): Promise<void>;
}
