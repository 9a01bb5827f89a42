import { createHash } from 'node:crypto';
import type { OutputItem, Response, ResponseStatus } from '@liminal/protocol';
import type { Transaction } from 'kysely';
import { sql } from 'kysely';
import { callHashOf } from '../store/call-hash.ts';
import { fittingBatches } from '../store/item-page.ts';
import { isSettled, isUnderWay, searchableText } from '../store/searchable-text.ts';
import { findDeleted } from './deleted-sessions.ts';
import type { Key, Tables } from './tables.ts';
import { textKey } from '../store/text-key.ts';
import { wordList } from '../store/words.ts';

/** The most characters of items in one statement, unless a single item has more: PostgreSQL accepts up to 1 GB. */
const batchMax = 4_000_000;

/** Saves Responses in order, except those whose stored version is newer. */
export async function saveResponses(
  db: Transaction<Tables>,
  responses: readonly Response[],
): Promise<void> {
  const sessionIds = responses.map(({ sessionId }) => sessionId);
  await lockSessions(db, sessionIds);
  const deleted = new Set(await findDeleted(db, sessionIds));
  for (const response of responses) {
    if (!deleted.has(response.sessionId)) await saveResponse(db, response);
  }
}

/**
 * Locks these sessions until the transaction ends: no other transaction can save runs of these sessions. The lock
 * ensures that concurrent readers see runs in the order of their keys, and that two transactions that save the same
 * runs cannot deadlock.
 */
export async function lockSessions(
  db: Transaction<Tables>,
  sessionIds: readonly string[],
): Promise<void> {
  // All callers lock in the same order.
  for (const id of [...new Set(sessionIds.map(textKey))].toSorted()) {
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${id}, 0))`.execute(db);
  }
}

async function saveResponse(
  db: Transaction<Tables>,
  { outputItems, ...head }: Response,
): Promise<void> {
  const row = {
    run_id: textKey(head.id),
    session_id: textKey(head.sessionId),
    last_seq: head.lastSeq,
    item_count: outputItems.length,
    head: JSON.stringify(head),
  };
  const saved = await db
    .insertInto('responses')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .column('run_id')
        .doUpdateSet(row)
        .whereRef('responses.last_seq', '<=', 'excluded.last_seq'),
    )
    .returning('response_key')
    .executeTakeFirst();
  if (saved) await saveItems(db, saved.response_key, outputItems, head.status);
}

async function saveItems(
  db: Transaction<Tables>,
  key: Key,
  items: readonly OutputItem[],
  status: ResponseStatus,
): Promise<void> {
  const marks = await readMarks(db, key);
  const rows = items.flatMap((item, index) => rowToWrite(item, index, status, marks) ?? []);
  for (const batch of fittingBatches(rows, ({ item }) => item.length, { size: batchMax })) {
    await writeItems(db, key, batch);
  }
  if (marks.size <= items.length) return;
  await db
    .deleteFrom('items')
    .where('response_key', '=', key)
    .where('item_index', '>=', items.length)
    .execute();
}

interface StoredItemMark {
  hash: string;
  hasWords: boolean;
}

interface ItemRow {
  index: number;
  item: string;
  words: string | null;
  callHash: string | null;
}

/** Hashes of a run's stored items: most items of a growing snapshot are unchanged, and need not be sent again. */
async function readMarks(db: Transaction<Tables>, key: Key): Promise<Map<number, StoredItemMark>> {
  const rows = await db
    .selectFrom('items')
    .select([
      'item_index',
      sql<string>`encode(sha256(convert_to(item, 'UTF8')), 'hex')`.as('hash'),
      sql<boolean>`words IS NOT NULL`.as('has_words'),
    ])
    .where('response_key', '=', key)
    .execute();
  return new Map(
    rows.map(({ item_index, hash, has_words }) => [item_index, { hash, hasWords: has_words }]),
  );
}

/** Returns the row to write for an item; undefined if an equal row is already stored. */
function rowToWrite(
  item: OutputItem,
  index: number,
  status: ResponseStatus,
  marks: ReadonlyMap<number, StoredItemMark>,
): ItemRow | undefined {
  const json = JSON.stringify(item);
  const mark = marks.get(index);
  const isStored = mark?.hash === createHash('sha256').update(json).digest('hex');
  // An unchanged item is written again once its run has ended, because its words are indexed only then.
  if (isStored && (mark.hasWords || isUnderWay(status))) return undefined;
  const words = isSettled(item, status) ? wordList(searchableText(item)) : null;
  return { index, item: json, words, callHash: callHashOf(item) ?? null };
}

async function writeItems(
  db: Transaction<Tables>,
  key: Key,
  rows: readonly ItemRow[],
): Promise<void> {
  const indexes = rows.map(({ index }) => index);
  const items = rows.map(({ item }) => item);
  const words = rows.map((row) => row.words);
  const hashes = rows.map((row) => row.callHash);
  await db
    .insertInto('items')
    .columns(['response_key', 'item_index', 'item', 'words', 'call_hash'])
    .expression(
      sql`SELECT ${key}::bigint, index, item, words, hash
          FROM unnest(${indexes}::integer[], ${items}::text[], ${words}::text[], ${hashes}::text[])
            AS row (index, item, words, hash)`,
    )
    .onConflict((conflict) =>
      conflict.columns(['response_key', 'item_index']).doUpdateSet((row) => ({
        item: row.ref('excluded.item'),
        words: sql`excluded.words`,
        call_hash: row.ref('excluded.call_hash'),
      })),
    )
    .execute();
}
