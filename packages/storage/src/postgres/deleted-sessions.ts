import type { Transaction } from 'kysely';
import { sql } from 'kysely';
import { textKey } from '../store/text-key.ts';
import type { Tables } from './tables.ts';

/** Stores the ids of a deleted session: Liminal's id and the agent's ids. */
export async function addDeleted(db: Transaction<Tables>, ids: readonly string[]): Promise<void> {
  await db
    .insertInto('deleted_sessions')
    .values(ids.map((id) => ({ session_id: textKey(id) })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Returns those of the given ids that belong to a deleted session. */
export async function findDeleted(
  db: Transaction<Tables>,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('deleted_sessions')
    .select('session_id')
    .where('session_id', '=', sql<string>`ANY(${ids.map(textKey)}::text[])`)
    .execute();
  const found = new Set(rows.map((row) => row.session_id));
  return ids.filter((id) => found.has(textKey(id)));
}

export async function isDeleted(db: Transaction<Tables>, id: string): Promise<boolean> {
  return (await findDeleted(db, [id])).length > 0;
}
