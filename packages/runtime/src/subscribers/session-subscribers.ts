import type { Response, StreamEvent } from '@liminal/protocol';

/** The subscribers of a session: on this server, or on any server that reads the log. */
export interface SessionSubscribers {
  /** Call when the log has these events. */
  apply(events: readonly StreamEvent[]): void;
  /** Call when the store has the run's final state. */
  forget(runId: string): void;
  /** Call when history has got runs that were never in the log; `isAtEnd` if all of them come last. */
  historyGrew(runs: readonly Response[], isAtEnd: boolean): void;
  /** Call when anything but the session's conversation has changed. */
  infoChanged(): void;
  /** Sends an error that belongs to no turn. */
  report(code: string, message: string): void;
  /** Notifies the subscribers that the session was deleted; they get nothing more. */
  deleted(): void;
  close(): void;
}
