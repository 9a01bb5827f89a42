import type { Coordination } from './coordination.ts';
import type { EventLog } from './event-log.ts';
import type { ResponseStore } from './response-store.ts';

/** A log and a store that were opened together, and are closed together. */
export interface OpenedStorage {
  log: EventLog;
  store: ResponseStore;
  /** Where several servers may work on it at once. */
  coordination?: Coordination;
  /** What cannot be read any more and is left where it is, in sentences for whoever runs the server. */
  setAside?: readonly string[];
  close(): Promise<void>;
}
