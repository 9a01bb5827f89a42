import type { ResponseStore } from '../response-store.ts';
import { PostgresDatabase } from './database.ts';
import { PostgresResponseStore } from './response-store.ts';

export const describePostgres = async (url: string): Promise<string> =>
  PostgresDatabase.describe(url);

export async function openPostgresStore(url: string, schema: string): Promise<ResponseStore> {
  return new PostgresResponseStore(await PostgresDatabase.open(url, schema));
}
