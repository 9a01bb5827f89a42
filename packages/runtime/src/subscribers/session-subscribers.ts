import type { Response, StreamEvent } from '@liminal/protocol';

/** The subscribers of a session: on this server, or on any server that reads the log. */
export interface SessionSubscribers {
  /** Call this method when the log has accepted these events. */
  apply(events: readonly StreamEvent[]): void;
  /** Call this method when the store has the run's final state. */
  forget(runId: string): void;
  /**
   * Call this method when runs that were never in the log were added to history. `isAtEnd` is true if all of these runs
   * are the newest.
   */
  historyGrew(runs: readonly Response[], isAtEnd: boolean): void;
  /** Call this method when anything but the session's conversation has changed. */
  infoChanged(): void;
  /** Sends an error that belongs to no turn. */
  report(code: string, message: string): void;
  /** Notifies the subscribers that the session was deleted; they get no further messages. */
  deleted(): void;
  close(): void;
}
