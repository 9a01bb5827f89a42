import { StorageError } from '../errors.ts';
import type { OpenedStorage } from '../storage.ts';
import { Database } from './database.ts';
import { SqliteEventLog } from './event-log.ts';
import { reasonOf } from './failures.ts';
import { SqliteResponseStore } from './response-store.ts';

export function openSqliteStorage(dataDir: string): OpenedStorage {
  const database = openDatabase(dataDir);
  const log = new SqliteEventLog(database);
  const store = new SqliteResponseStore(database);
  return {
    log,
    store,
    close: async () => {
      await log.close();
      await store.close();
      database.close();
    },
  };
}

function openDatabase(dataDir: string): Database {
  try {
    return new Database(dataDir);
  } catch (cause) {
    if (cause instanceof StorageError) throw cause;
    const message = `The data folder ${dataDir} cannot be used: ${reasonOf(cause)}. Repair it, or choose another with --data.`;
    throw new StorageError('DATA_DIR_UNUSABLE', message, { cause });
  }
}
