import type { BlobStore } from './blob-store.ts';
import type { Coordination } from './coordination.ts';
import type { EventArchive } from './event-archive.ts';
import type { EventLog } from './event-log.ts';
import type { ResponseStore } from './response-store.ts';

/** The parts of a database. All parts are opened and closed together. */
export interface OpenedDatabase {
  store: ResponseStore;
  blobs: BlobStore;
  /** Absent if events of finished runs cannot be stored. */
  eventArchive?: EventArchive;
  /** One sentence for the operator about each damaged piece of data; the damaged data is not changed. */
  damageReports?: readonly string[];
  close(): Promise<void>;
}

/** All storage, opened and closed together. */
export interface OpenedStorage extends OpenedDatabase {
  log: EventLog;
  /** Set if several servers may use the storage at once. */
  coordination?: Coordination;
}
