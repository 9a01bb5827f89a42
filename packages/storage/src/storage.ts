import type { EventLog } from './event-log.ts';
import type { ResponseStore } from './response-store.ts';

/** A log and a store that were opened together, and are closed together. */
export interface OpenedStorage {
  log: EventLog;
  store: ResponseStore;
  close(): Promise<void>;
}
