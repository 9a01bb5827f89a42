import type { Transaction } from 'kysely';
import { sql } from 'kysely';
import { partSize } from '../store/blob-bytes.ts';
import { idOfTextKey, textKey } from '../store/text-key.ts';
import { isDeleted } from './deleted-sessions.ts';
import type { Tables } from './tables.ts';

/**
 * Every change of a blob's holders first locks the session, and then locks the rows of the blobs in the order of their
 * hashes. Therefore no blob is deleted while a session gets a hold on it, and no two changes wait for each other.
 */

/** Stores the bytes, unless they are stored already. Returns the stored media type. */
export async function putBlob(
  db: Transaction<Tables>,
  blob: { hash: string; mimeType: string; bytes: Uint8Array; sessionId?: string | undefined },
): Promise<string> {
  const { hash, mimeType, bytes } = blob;
  if (blob.sessionId !== undefined) await lockHolder(db, blob.sessionId);
  const sessionId = await holderOf(db, blob.sessionId);
  const since = sessionId === undefined ? await timeOf(db) : null;
  // First try without sending the bytes.
  const stored =
    (await touchBlob(db, hash, since)) ??
    (await insertBlob(db, {
      hash,
      mime_type: textKey(mimeType),
      bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
      waiting_since: since,
    }));
  if (sessionId !== undefined) await addHolds(db, sessionId, [hash]);
  return idOfTextKey(stored);
}

/** Returns the database's clock, ms since the epoch. */
export async function timeOf(db: Transaction<Tables>): Promise<number> {
  const now = sql<string>`floor(extract(epoch from clock_timestamp()) * 1000)`.as('now');
  const { now: time } = await db.selectNoFrom(now).executeTakeFirstOrThrow();
  return Number(time);
}

/** The session's id; undefined if the session has been deleted. */
async function holderOf(
  db: Transaction<Tables>,
  sessionId: string | undefined,
): Promise<string | undefined> {
  return sessionId === undefined || (await isDeleted(db, sessionId)) ? undefined : sessionId;
}

/**
 * Locks a blob's row, and sets the time from which the blob waits for a session to `since`; null leaves that time
 * unchanged. Returns the blob's media type, or undefined if the blob is not stored.
 */
async function touchBlob(
  db: Transaction<Tables>,
  hash: string,
  since: number | null,
): Promise<string | undefined> {
  const row = await db
    .updateTable('blobs')
    .set({ waiting_since: sql`coalesce(${since}::bigint, waiting_since)` })
    .where('hash', '=', hash)
    .returning('mime_type')
    .executeTakeFirst();
  return row?.mime_type;
}

async function insertBlob(db: Transaction<Tables>, row: Tables['blobs']): Promise<string> {
  const inserted = await db
    .insertInto('blobs')
    .values(row)
    .onConflict((conflict) =>
      // On a conflict, another transaction has inserted the blob in the meantime.
      conflict.column('hash').doUpdateSet({
        waiting_since: sql`coalesce(excluded.waiting_since, blobs.waiting_since)`,
      }),
    )
    .returning('mime_type')
    .executeTakeFirstOrThrow();
  return inserted.mime_type;
}

/** Returns the media type, and the bytes in parts; undefined if the blob is not stored. */
export async function readBlob(
  db: Transaction<Tables>,
  hash: string,
): Promise<{ mimeType: string; parts: Buffer[] } | undefined> {
  const key = textKey(hash);
  const row = await db
    .selectFrom('blobs')
    .select(['mime_type', sql<number>`octet_length(bytes)`.as('size')])
    .where('hash', '=', key)
    .executeTakeFirst();
  if (!row) return undefined;
  const parts: Buffer[] = [];
  for (let from = 0; from < row.size; from += partSize) {
    // Read the bytes in parts: the whole blob would arrive as one text of twice the blob's size, and would block the
    // server's one thread for a second.
    const part = sql<Buffer>`substring(bytes FROM ${from + 1}::integer FOR ${partSize}::integer)`;
    const found = await db
      .selectFrom('blobs')
      .select(part.as('part'))
      .where('hash', '=', key)
      .executeTakeFirstOrThrow();
    parts.push(found.part);
  }
  return { mimeType: idOfTextKey(row.mime_type), parts };
}

/** Adds the session's holds on all blobs, or on none if some are missing. Returns the missing hashes. */
export async function holdBlobs(
  db: Transaction<Tables>,
  sessionId: string,
  hashes: readonly string[],
): Promise<string[]> {
  await lockHolder(db, sessionId);
  const wanted = [...new Set(hashes)];
  const stored = new Set(await lockBlobs(db, wanted.map(textKey)));
  const missing = wanted.filter((hash) => !stored.has(hash));
  if (missing.length > 0 || (await isDeleted(db, sessionId))) return missing;
  await addHolds(db, sessionId, wanted);
  await db
    .updateTable('blobs')
    .set({ waiting_since: null })
    .where('hash', '=', anyOf(wanted))
    .where('waiting_since', 'is not', null)
    .execute();
  return [];
}

/** Ends a session's holds, and deletes blobs that no session needs any more. */
export async function releaseBlobs(db: Transaction<Tables>, sessionId: string): Promise<void> {
  await lockHolder(db, sessionId);
  const session = textKey(sessionId);
  const held = await db
    .selectFrom('blob_holders')
    .select('hash')
    .where('session_id', '=', session)
    .execute();
  if (held.length === 0) return;
  const hashes = await lockBlobs(
    db,
    held.map(({ hash }) => hash),
  );
  await db.deleteFrom('blob_holders').where('session_id', '=', session).execute();
  await unheld(db, hashes).where('waiting_since', 'is', null).execute();
}

/**
 * Deletes uploads that are older than a time (ms since the epoch) and that no session holds. Returns the number of
 * deleted uploads.
 */
export async function sweepBlobs(db: Transaction<Tables>, before: number): Promise<number> {
  const old = await db
    .selectFrom('blobs')
    .select('hash')
    .where('waiting_since', '<', before)
    .execute();
  const hashes = await lockBlobs(
    db,
    old.map(({ hash }) => hash),
  );
  const swept = await unheld(db, hashes).where('waiting_since', '<', before).executeTakeFirst();
  return Number(swept.numDeletedRows);
}

/**
 * Deletes those of the given blobs that no session holds. The caller has locked the blobs, so no session can get a
 * hold at the same time.
 */
function unheld(db: Transaction<Tables>, hashes: readonly string[]) {
  return db
    .deleteFrom('blobs')
    .where('hash', '=', anyOf(hashes))
    .where((row) =>
      row.not(
        row.exists(
          row
            .selectFrom('blob_holders')
            .select(sql`1`.as('held'))
            .whereRef('blob_holders.hash', '=', 'blobs.hash'),
        ),
      ),
    );
}

async function addHolds(
  db: Transaction<Tables>,
  sessionId: string,
  hashes: readonly string[],
): Promise<void> {
  await db
    .insertInto('blob_holders')
    .columns(['session_id', 'hash'])
    .expression(sql`SELECT ${textKey(sessionId)}, unnest(${hashes}::text[])`)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Locks the rows of blobs, and returns the hashes of the blobs that are stored. */
async function lockBlobs(db: Transaction<Tables>, hashes: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('blobs')
    .select('hash')
    .where('hash', '=', anyOf(hashes))
    .orderBy('hash')
    .forUpdate()
    .execute();
  return rows.map(({ hash }) => hash);
}

/** Locks a session's holds until the transaction ends. */
async function lockHolder(db: Transaction<Tables>, sessionId: string): Promise<void> {
  // This lock is not the lock on the session's runs, because writing bytes may take a while.
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${textKey(sessionId)}, 1))`.execute(db);
}

function anyOf(hashes: readonly string[]) {
  return sql<string>`ANY(${hashes}::text[])`;
}
