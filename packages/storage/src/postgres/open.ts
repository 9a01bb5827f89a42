import type { OpenedDatabase } from '../storage.ts';
import { PostgresBlobStore } from './blob-store.ts';
import { PostgresEventArchive } from './event-archive.ts';
import { PostgresDatabase } from './database.ts';
import { PostgresResponseStore } from './response-store.ts';
import { unreadableSessions } from './sessions.ts';
import { damagedSession } from '../store/stored-json.ts';

export const describePostgres = async (url: string): Promise<string> =>
  PostgresDatabase.describe(url);

export async function openPostgres(url: string, schema: string): Promise<OpenedDatabase> {
  const database = await PostgresDatabase.open(url, schema);
  const unreadable = await database.read(unreadableSessions);
  return {
    damageReports: unreadable.map(damagedSession),
    store: new PostgresResponseStore(database),
    blobs: new PostgresBlobStore(database),
    eventArchive: new PostgresEventArchive(database),
    close: async () => database.close(),
  };
}
