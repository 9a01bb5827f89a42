import type { Response, StreamEvent } from '@liminal/protocol';

/** Those who are shown what becomes of a session: here, or wherever the log is read. */
export interface SessionReaders {
  /** The log has these events. */
  apply(events: readonly StreamEvent[]): void;
  /** The store has the run's final state. */
  forget(runId: string): void;
  /** The store has more than before: these runs, which were never in the log, all at its end or not. */
  historyGrew(runs: readonly Response[], isAtEnd: boolean): void;
  /** Something about the session beside its conversation has changed. */
  infoChanged(): void;
  /** There is a problem that belongs to no turn. */
  report(code: string, message: string): void;
  close(): void;
}
