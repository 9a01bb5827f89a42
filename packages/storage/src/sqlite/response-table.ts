import type { StatementSync } from 'node:sqlite';
import type { Response } from '@liminal/protocol';
import { errors } from '../errors.ts';
import { callItemsMax, type CallsWanted, type StoredItem } from '../response-store.ts';
import type { HeadRow, RunItemRow } from '../store/rows.ts';
import type { Database } from './database.ts';
import { callColumn, keyOf, rowReader } from './id-key.ts';
import { ItemWords } from './item-words.ts';
import { yieldToEventLoop } from '../yield-to-event-loop.ts';

/** The most items, and characters of their JSON, per part; a larger item is a part of its own. */
const partItems = 2_000;
const partSize = 1024 * 1024;
/** The most missing items at the end of a run that are shown as damaged. */
const maxGaps = 1_000;

/** A Response in the form of its rows. */
export interface EncodedResponse {
  response: Response;
  /** The head as JSON. */
  head: string;
  /** The items, each as JSON. */
  items: string[];
}

/** A stored Response without its items. */
export interface ResponseRow extends HeadRow {
  response_key: number;
  item_count: number;
}

/** The tables of Responses and their items, and their statements. The caller wraps writes in a transaction. */
export class ResponseTable {
  readonly #saveHead: StatementSync;
  readonly #saveItem: StatementSync;
  readonly #trimItems: StatementSync;
  readonly #find: StatementSync;
  readonly #oldestFirst: StatementSync;
  readonly #newestFirst: StatementSync;
  readonly #selectItems: StatementSync;
  readonly #selectSizes: StatementSync;
  readonly #selectCalls: Record<CallsWanted['side'], StatementSync>;
  readonly #deleteOfSession: StatementSync;
  readonly #words: ItemWords;

  constructor(database: Database) {
    this.#words = new ItemWords(database);
    this.#saveHead = database.prepare(
      `INSERT INTO responses (run_id, session_id, last_seq, item_count, head) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (run_id) DO UPDATE SET session_id = excluded.session_id,
         last_seq = excluded.last_seq, item_count = excluded.item_count, head = excluded.head
       WHERE excluded.last_seq >= last_seq
       RETURNING response_key`,
    );
    // Most items of a growing snapshot are unchanged; an unchanged item is not written again.
    this.#saveItem = database.prepare(
      `INSERT INTO items (response_key, item_index, item, call_key) VALUES (?, ?, ?, ?)
       ON CONFLICT (response_key, item_index) DO UPDATE
         SET item = excluded.item, call_key = excluded.call_key
       WHERE excluded.item <> item`,
    );
    this.#trimItems = database.prepare(
      'DELETE FROM items WHERE response_key = ? AND item_index >= ?',
    );
    this.#find = database.prepare('SELECT * FROM responses WHERE run_id = ?');
    this.#oldestFirst = database.prepare(
      'SELECT * FROM responses WHERE session_id = ? AND response_key >= ? ORDER BY response_key',
    );
    this.#newestFirst = database.prepare(
      'SELECT * FROM responses WHERE session_id = ? AND response_key <= ? ORDER BY response_key DESC',
    );
    this.#selectItems = database.prepare(
      `SELECT item_index, item FROM items
       WHERE response_key = ? AND item_index >= ? AND item_index < ? ORDER BY item_index`,
    );
    this.#selectSizes = database.prepare(
      `SELECT octet_length(item) AS size FROM items
       WHERE response_key = ? AND item_index >= ? AND item_index < ? ORDER BY item_index DESC`,
    );
    this.#selectCalls = {
      before: database.prepare(
        `SELECT item_index, item FROM items
         WHERE response_key = ? AND call_key = ? AND item_index < ?
         ORDER BY item_index DESC LIMIT ${callItemsMax}`,
      ),
      from: database.prepare(
        `SELECT item_index, item FROM items
         WHERE response_key = ? AND call_key = ? AND item_index >= ?
         ORDER BY item_index LIMIT ${callItemsMax}`,
      ),
    };
    this.#deleteOfSession = database.prepare('DELETE FROM responses WHERE session_id = ?');
  }

  /**
   * Saves a Response. Does nothing if the stored Response is newer. With `from` and `to`, saves only the items in this
   * range, as one of several parts; the items of later parts are missing until these parts are saved.
   */
  save({ response, head, items }: EncodedResponse, from = 0, to = items.length): void {
    const { id, sessionId, lastSeq, outputItems, status } = response;
    const saved = this.#saveHead.get(keyOf(id), keyOf(sessionId), lastSeq, to, head) as
      | { response_key: number }
      | undefined;
    if (!saved) return;
    const { response_key: key } = saved;
    for (const [at, item] of outputItems.slice(from, to).entries()) {
      const index = from + at;
      const { changes } = this.#saveItem.run(key, index, items[index] ?? 'null', callColumn(item));
      this.#words.note({ key, index, item, status }, changes > 0);
    }
    if (to < items.length) return;
    const { changes } = this.#trimItems.run(key, to);
    if (changes > 0) this.#words.delete(key, to);
  }

  deleteSession(sessionId: string): void {
    for (const row of this.oldestFirst(sessionId, 0)) this.#words.delete(row.response_key, 0);
    this.#deleteOfSession.run(keyOf(sessionId));
  }

  find(runId: string): ResponseRow | undefined {
    return this.#find.get(keyOf(runId)) as unknown as ResponseRow | undefined;
  }

  /** Returns a session's runs from a key on, oldest first. */
  oldestFirst(sessionId: string, fromKey: number): ResponseRow[] {
    return this.#oldestFirst.all(keyOf(sessionId), fromKey) as unknown[] as ResponseRow[];
  }

  /** A session's runs up to a key, newest first; read lazily. */
  newestFirst(sessionId: string, toKey: number): Iterable<ResponseRow> {
    const rows: Iterable<unknown> = this.#newestFirst.iterate(keyOf(sessionId), toKey);
    return rows as Iterable<ResponseRow>;
  }

  /** The bytes of these items' JSON, newest first; read lazily. */
  *sizes(row: ResponseRow, from: number, to: number): Generator<number> {
    const rows: Iterable<unknown> = this.#selectSizes.iterate(row.response_key, from, to);
    for (const { size } of rows as Iterable<{ size: number }>) yield size;
  }

  /** Returns a run's items from one index up to (not including) another. Missing rows are shown as damaged items. */
  items(row: ResponseRow, from: number, to: number): StoredItem[] {
    const rows = this.#selectItems.all(row.response_key, from, to) as unknown[] as RunItemRow[];
    return rowReader.items(row.run_id, withGapsMarked(row, rows, from, to));
  }

  /**
   * Returns the items with the wanted call keys, in the order of the run. For each key, returns only the nearest items.
   */
  calls(row: ResponseRow, { keys, side, index }: CallsWanted): StoredItem[] {
    const select = this.#selectCalls[side];
    const rows = keys.flatMap(
      (key) => select.all(row.response_key, keyOf(key), index) as unknown[] as RunItemRow[],
    );
    return rowReader.items(row.run_id, rows).toSorted((a, b) => a.index - b.index);
  }
}

/**
 * Adds an empty row for each missing row. Adds at most `maxGaps` rows after the last row, because the stored count may
 * be damaged.
 */
function withGapsMarked(
  { item_count: count }: ResponseRow,
  rows: RunItemRow[],
  from: number,
  to: number,
): RunItemRow[] {
  const end = Math.min(to, count);
  if (rows.length >= end - from) return rows;
  const known = new Map(rows.map((row) => [row.item_index, row]));
  const last = rows.at(-1)?.item_index ?? from - 1;
  const length = Math.min(end, Math.max(last + 1, from) + maxGaps) - from;
  return Array.from({ length }, (_, at) => {
    const index = from + at;
    return known.get(index) ?? { item_index: index, item: '' };
  });
}

/**
 * Encodes a Response; other work runs in between. Throws StorageError `STORE_WRITE_FAILED` for values that cannot be
 * written as JSON.
 */
export async function encodeResponse(response: Response): Promise<EncodedResponse> {
  const { outputItems, ...head } = response;
  const items: string[] = [];
  let size = 0;
  try {
    for (const item of outputItems) {
      const json = JSON.stringify(item);
      items.push(json);
      size += json.length;
      if (size <= partSize) continue;
      await yieldToEventLoop();
      size = 0;
    }
    return { response, head: JSON.stringify(head), items };
  } catch (cause) {
    throw errors.STORE_WRITE_FAILED.run(head.id, String(cause), { cause });
  }
}

/** Returns the ends of the parts in which a Response's items are saved; most Responses have one part. */
export function partEnds({ items }: EncodedResponse): number[] {
  const ends: number[] = [];
  let [from, size] = [0, 0];
  for (const [index, { length }] of items.entries()) {
    if (index > from && (size + length > partSize || index - from >= partItems)) {
      ends.push(index);
      [from, size] = [index, 0];
    }
    size += length;
  }
  return [...ends, items.length];
}
