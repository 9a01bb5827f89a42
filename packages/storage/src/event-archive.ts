import type { StreamEvent } from '@liminal/protocol';

/**
 * The events of finished runs, for deployments that keep them. `ResponseStore.deleteSession` deletes the events of its
 * session in the same step, and a deleted session gets no more. Every driver with an archive passes
 * `testing/event-archive-suite.ts`.
 */
export interface EventArchive {
  /**
   * Stores events of a run, in order; stored events are not stored twice. The run's session need not be stored. Throws
   * StorageError `STORE_WRITE_FAILED`, which can be retried.
   */
  store(runId: string, events: readonly StreamEvent[]): Promise<void>;
  /** The stored events of a run, in order, each once; there are gaps if some were never stored. */
  read(runId: string): Promise<StreamEvent[]>;
}
