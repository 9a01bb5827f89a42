import type { Coordination } from './coordination.ts';
import type { EventLog } from './event-log.ts';
import type { ResponseStore } from './response-store.ts';

/** A log and a store that are opened and closed together. */
export interface OpenedStorage {
  log: EventLog;
  store: ResponseStore;
  /** Set if several servers may work on it at once. */
  coordination?: Coordination;
  /** What is damaged and left where it is, in sentences for the operator. */
  setAside?: readonly string[];
  close(): Promise<void>;
}
