import type { Transaction } from 'kysely';
import { sql } from 'kysely';
import { errors } from '../errors.ts';
import type { SessionRecord } from '../response-store.ts';
import { refuseDamaged } from '../store/stored-json.ts';
import { searchableTitle } from '../store/searchable-text.ts';
import { isDeleted } from './deleted-sessions.ts';
import { rowReader, type Tables } from './tables.ts';
import { textKey } from '../store/text-key.ts';
import { wordList } from '../store/words.ts';

/**
 * Saves a session. Throws `STALE_OWNER` and `SESSION_NOT_FOUND`. The database compares the fences in the same
 * statement, so that no other owner can save in between.
 */
export async function saveSession(db: Transaction<Tables>, session: SessionRecord): Promise<void> {
  const row = {
    session_id: textKey(session.sessionId),
    project_id: textKey(session.projectId),
    active: session.active,
    created_at: textKey(session.createdAt),
    updated_at: textKey(session.updatedAt),
    fence: session.fence,
    title_words: wordList(searchableTitle(session)),
    record: JSON.stringify(session),
  };
  const stored = await selectSession(db, session.sessionId).executeTakeFirst();
  refuseDamaged(session.sessionId, stored?.record);
  const saved = await db
    .insertInto('sessions')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .column('session_id')
        .doUpdateSet(row)
        .whereRef('sessions.fence', '<=', 'excluded.fence'),
    )
    .returning(sql`1`.as('saved'))
    .executeTakeFirst();
  if (!saved) throw errors.STALE_OWNER.saves(session.sessionId);
  // Check last whether the session is deleted: the write above has waited for any deletion in progress.
  if (await isDeleted(db, session.sessionId))
    throw errors.SESSION_NOT_FOUND.deleted(session.sessionId);
}

export async function findSession(
  db: Transaction<Tables>,
  sessionId: string,
): Promise<SessionRecord | undefined> {
  const row = await selectSession(db, sessionId).executeTakeFirst();
  return row && rowReader.session(row);
}

export async function takeSession(
  db: Transaction<Tables>,
  sessionId: string,
  fence: number,
): Promise<SessionRecord | undefined> {
  // Locks the row: a concurrent save waits for this transaction, and then sees the new fence.
  const row = await selectSession(db, sessionId).forUpdate().executeTakeFirst();
  const record = row && rowReader.session(row);
  if (record === undefined) return undefined;
  const taken = { ...record, fence };
  await saveSession(db, taken);
  return taken;
}

export async function listSessions(
  db: Transaction<Tables>,
  { projectId, active }: { projectId?: string; active?: boolean },
): Promise<SessionRecord[]> {
  const rows = await db
    .selectFrom('sessions')
    .select(['session_id', 'record'])
    .$if(projectId !== undefined, (all) => all.where('project_id', '=', textKey(projectId ?? '')))
    .$if(active !== undefined, (all) => all.where('active', '=', active === true))
    .orderBy('updated_at', 'desc')
    .orderBy('created_at', 'desc')
    .execute();
  return rowReader.sessions(rows);
}

function selectSession(db: Transaction<Tables>, sessionId: string) {
  return db
    .selectFrom('sessions')
    .select(['session_id', 'record'])
    .where('session_id', '=', textKey(sessionId));
}

/** Returns the ids of sessions whose records are damaged. */
export async function unreadableSessions(db: Transaction<Tables>): Promise<string[]> {
  const rows = await db.selectFrom('sessions').select(['session_id', 'record']).execute();
  return rowReader.damagedSessions(rows);
}
