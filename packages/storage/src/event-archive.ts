import type { StreamEvent } from '@liminal/protocol';

/**
 * Stores the events of finished runs, for deployments that keep these events. `ResponseStore.deleteSession` also
 * deletes the events of its session, in the same step; no further events of a deleted session are stored. Every driver
 * with an archive passes `testing/event-archive-suite.ts`.
 */
export interface EventArchive {
  /**
   * Stores events of a run, in order. Events that are already stored are not stored again. The run's session need not
   * be stored. Throws StorageError `STORE_WRITE_FAILED`, which can be retried.
   */
  store(runId: string, events: readonly StreamEvent[]): Promise<void>;
  /** The stored events of a run, in order, each event once. If some events were never stored, the result has gaps. */
  read(runId: string): Promise<StreamEvent[]>;
}
