import { noBlobs } from '../no-blobs.ts';
import type { OpenedDatabase } from '../storage.ts';
import { PostgresDatabase } from './database.ts';
import { PostgresResponseStore } from './response-store.ts';

export const describePostgres = async (url: string): Promise<string> =>
  PostgresDatabase.describe(url);

export async function openPostgres(url: string, schema: string): Promise<OpenedDatabase> {
  const store = new PostgresResponseStore(await PostgresDatabase.open(url, schema));
  return { store, blobs: noBlobs(), close: async () => store.close() };
}
