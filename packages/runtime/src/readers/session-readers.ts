import type { Response, StreamEvent } from '@liminal/protocol';

/** The readers of a session: here, or wherever the log is read. */
export interface SessionReaders {
  /** The log has these events. */
  apply(events: readonly StreamEvent[]): void;
  /** The store has the run's final state. */
  forget(runId: string): void;
  /** The store has more than before: these runs, which were never in the log; `isAtEnd` if all come last. */
  historyGrew(runs: readonly Response[], isAtEnd: boolean): void;
  /** Something other than the session's conversation has changed. */
  infoChanged(): void;
  /** There is a problem that belongs to no turn. */
  report(code: string, message: string): void;
  /** The session has been deleted: its readers are told, and get nothing more. */
  deleted(): void;
  close(): void;
}
