import { errors, StorageError } from '../errors.ts';
import { damagedSession } from '../store/stored-json.ts';
import type { OpenedStorage } from '../storage.ts';
import { SqliteBlobStore } from './blob-store.ts';
import { Database } from './database.ts';
import { SqliteEventArchive } from './event-archive.ts';
import { SqliteEventLog } from './event-log.ts';
import { reasonOf } from './failures.ts';
import { EventTable } from './event-table.ts';
import { SqliteResponseStore } from './response-store.ts';
import { SessionTable } from './session-table.ts';

export function openSqliteStorage(dataDir: string): OpenedStorage {
  try {
    return open(new Database(dataDir));
  } catch (cause) {
    if (cause instanceof StorageError) throw cause;
    throw errors.DATA_DIR_UNUSABLE.folder(dataDir, reasonOf(cause), { cause });
  }
}

function open(database: Database): OpenedStorage {
  const { log, store, blobs, eventArchive } = makeParts(database);
  return {
    log,
    store,
    blobs,
    eventArchive,
    damageReports: unreadableIn(database),
    close: async () => {
      await log.close();
      await store.close();
      database.close();
    },
  };
}

function unreadableIn(database: Database): string[] {
  const sessions = new SessionTable(database).unreadable();
  const runs = new EventTable(database).unreadable();
  return [
    ...sessions.map(damagedSession),
    ...runs.map((id) => `The turn ${id}, which had not ended, cannot be read: the log is damaged.`),
  ];
}

/** Creates the parts, which read the tables. If the tables are damaged, releases the folder. */
function makeParts(database: Database) {
  try {
    const blobs = new SqliteBlobStore(database);
    return {
      log: new SqliteEventLog(database),
      store: new SqliteResponseStore(database, blobs),
      blobs,
      eventArchive: new SqliteEventArchive(database),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}
