import type { StreamEvent } from '@liminal/protocol';

/**
 * The events of runs that are history already, where somebody wants to keep them. `ResponseStore.deleteSession` deletes
 * those of its session in the same step, and a deleted session gets no more. Every driver that has one passes
 * `testing/event-archive-suite.ts`.
 */
export interface EventArchive {
  /**
   * Keeps events of a run, in order; those that it has are not kept twice. Its session need not be stored. Throws
   * StorageError `STORE_WRITE_FAILED`; it can be tried again.
   */
  keep(runId: string, events: readonly StreamEvent[]): Promise<void>;
  /** The events that are kept of a run, in order, each once; there may be gaps if some were never given. */
  read(runId: string): Promise<StreamEvent[]>;
}
