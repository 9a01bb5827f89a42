import type { BlobStore } from './blob-store.ts';
import type { Coordination } from './coordination.ts';
import type { EventArchive } from './event-archive.ts';
import type { EventLog } from './event-log.ts';
import type { ResponseStore } from './response-store.ts';

/** What a database keeps, opened and closed together. */
export interface OpenedDatabase {
  store: ResponseStore;
  blobs: BlobStore;
  /** Absent where events of finished runs cannot be kept. */
  archive?: EventArchive;
  /** What is damaged and left where it is, in sentences for the operator. */
  setAside?: readonly string[];
  close(): Promise<void>;
}

/** All that is kept, opened and closed together. */
export interface OpenedStorage extends OpenedDatabase {
  log: EventLog;
  /** Set if several servers may work on it at once. */
  coordination?: Coordination;
}
