import type { Response } from '@liminal/protocol';
import { sql, type Transaction } from 'kysely';
import {
  callItemsMax,
  type CallsWanted,
  type ItemPage,
  type ItemsWanted,
  type ResponseHead,
  type StoredItem,
} from '../response-store.ts';
import { type ItemRow, storedItem } from '../store/rows.ts';
import { type Key, rowReader, type Tables } from './tables.ts';
import { callKeyHash } from '../store/call-hash.ts';
import { fittingCount } from '../store/item-page.ts';
import { textKey } from '../store/text-key.ts';

export async function readResponse(
  db: Transaction<Tables>,
  runId: string,
): Promise<Response | undefined> {
  const row = await db
    .selectFrom('responses')
    .select(['response_key', 'head', 'run_id', 'session_id'])
    .where('run_id', '=', textKey(runId))
    .executeTakeFirst();
  if (!row) return undefined;
  const items = await db
    .selectFrom('items')
    .select(['item', 'item_index'])
    .where('response_key', '=', row.response_key)
    .orderBy('item_index')
    .execute();
  const stored = rowReader.items(row.run_id, items);
  return { ...rowReader.head(row), outputItems: stored.map(({ item }) => item) };
}

export async function listRuns(
  db: Transaction<Tables>,
  sessionId: string,
  fromRunId: string | undefined,
): Promise<ResponseHead[] | undefined> {
  const from = fromRunId === undefined ? '0' : await responseKeyOf(db, sessionId, fromRunId);
  return from === undefined ? undefined : readHeads(db, sessionId, { from });
}

export async function readItems(
  db: Transaction<Tables>,
  sessionId: string,
  { before, limit, size }: ItemsWanted,
): Promise<ItemPage> {
  const key = before && (await responseKeyOf(db, sessionId, before.runId));
  if (before && key === undefined) return { items: [], heads: [], hasMore: false };
  const place = before && key !== undefined ? { key, index: before.index } : undefined;
  const rows = await newestItems(
    db,
    sessionId,
    place,
    await countOf(db, sessionId, place, { limit, size }),
  );
  const oldest = rows.at(-1);
  const hasMore = oldest !== undefined && (await hasItemsBefore(db, sessionId, oldest));
  const heads = await readHeads(db, sessionId, {
    ...(hasMore && { from: oldest.response_key }),
    ...(place && { to: place }),
  });
  return { items: rows.map((row) => rowReader.item(row)).toReversed(), heads, hasMore };
}

/**
 * Returns the items with the wanted call keys, in the order of the run. For each key, returns only the nearest items.
 */
export async function readCalls(
  db: Transaction<Tables>,
  { runId, keys, side, index }: CallsWanted,
): Promise<StoredItem[]> {
  const run = await db
    .selectFrom('responses')
    .select('response_key')
    .where('run_id', '=', textKey(runId))
    .executeTakeFirst();
  if (!run || keys.length === 0) return [];
  const nearestFirst = side === 'before' ? 'desc' : 'asc';
  const rows = await db
    .selectFrom(
      db
        .selectFrom('items')
        .select(['item_index', 'item'])
        .select(({ fn }) =>
          fn
            .agg<string>('row_number')
            .over((rank) => rank.partitionBy('call_hash').orderBy('item_index', nearestFirst))
            .as('rank'),
        )
        .where('response_key', '=', run.response_key)
        .where('call_hash', 'in', keys.map(callKeyHash))
        .where('item_index', side === 'before' ? '<' : '>=', index)
        .as('found'),
    )
    .select(['item_index', 'item'])
    .where('rank', '<=', String(callItemsMax))
    .orderBy('item_index')
    .execute();
  return rows.map((row) => storedItem(runId, row));
}

/** The position of an item: the key of its run, and its index in the run. */
interface ItemPlace {
  key: Key;
  index: number;
}

interface PageRow extends ItemRow {
  response_key: Key;
}

function itemsBefore(db: Transaction<Tables>, sessionId: string, place: ItemPlace | undefined) {
  return db
    .selectFrom('items')
    .innerJoin('responses', 'responses.response_key', 'items.response_key')
    .where('session_id', '=', textKey(sessionId))
    .$if(place !== undefined, (all) =>
      all.where((row) =>
        row.eb(
          row.refTuple('items.response_key', 'items.item_index'),
          '<',
          row.tuple(place?.key ?? '', place?.index ?? 0),
        ),
      ),
    );
}

/** Returns the number of items on the page: as many as `limit` and `size` allow. */
async function countOf(
  db: Transaction<Tables>,
  sessionId: string,
  place: ItemPlace | undefined,
  { limit, size }: Pick<ItemsWanted, 'limit' | 'size'>,
): Promise<number> {
  if (size === undefined) return limit;
  const rows = await itemsBefore(db, sessionId, place)
    .select(sql<number>`octet_length(item)`.as('size'))
    .orderBy('items.response_key', 'desc')
    .orderBy('item_index', 'desc')
    .limit(limit)
    .execute();
  return fittingCount(
    rows.map((row) => row.size),
    size,
  );
}

/** Returns the items of the page, newest first. */
async function newestItems(
  db: Transaction<Tables>,
  sessionId: string,
  place: ItemPlace | undefined,
  limit: number,
): Promise<PageRow[]> {
  return itemsBefore(db, sessionId, place)
    .select(['items.response_key', 'item_index', 'item', 'run_id'])
    .orderBy('items.response_key', 'desc')
    .orderBy('item_index', 'desc')
    .limit(limit)
    .execute();
}

async function hasItemsBefore(
  db: Transaction<Tables>,
  sessionId: string,
  oldest: PageRow,
): Promise<boolean> {
  const place = { key: oldest.response_key, index: oldest.item_index };
  const older = itemsBefore(db, sessionId, place).select('item_index').limit(1);
  return (await older.executeTakeFirst()) !== undefined;
}

/**
 * Returns heads of runs, oldest first. If no items of the run of `to` are before the position, this run is left out,
 * because an earlier page has shown it.
 */
async function readHeads(
  db: Transaction<Tables>,
  sessionId: string,
  { from = '0', to }: { from?: Key; to?: ItemPlace },
): Promise<ResponseHead[]> {
  const rows = await db
    .selectFrom('responses')
    .select(['head', 'run_id', 'session_id'])
    .where('session_id', '=', textKey(sessionId))
    .where('response_key', '>=', from)
    .$if(to !== undefined, (all) =>
      all.where('response_key', to && to.index > 0 ? '<=' : '<', to?.key ?? ''),
    )
    .orderBy('response_key')
    .execute();
  return rows.map((row) => rowReader.head(row));
}

async function responseKeyOf(
  db: Transaction<Tables>,
  sessionId: string,
  runId: string,
): Promise<Key | undefined> {
  const row = await db
    .selectFrom('responses')
    .select('response_key')
    .where('run_id', '=', textKey(runId))
    .where('session_id', '=', textKey(sessionId))
    .executeTakeFirst();
  return row?.response_key;
}
