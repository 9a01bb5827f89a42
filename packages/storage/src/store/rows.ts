/** The columns that the tables of SQLite and PostgreSQL have in common, and the values of rows with these columns. */
import type { Grant } from '@liminal/protocol';
import type { ResponseHead, SearchHit, SessionRecord, StoredItem } from '../response-store.ts';
import { itemHit } from './search-hits.ts';
import type { ParsedQuery } from './search-query.ts';
import { readGrant, readHead, readItem, readSession } from './stored-json.ts';

export interface SessionRow {
  session_id: string;
  /** The whole record as JSON; other columns repeat fields for searching and sorting. */
  record: string;
}

export interface HeadRow {
  run_id: string;
  session_id: string;
  /** The Response without its items, as JSON. */
  head: string;
}

/** An item of a known run. */
export interface RunItemRow {
  item_index: number;
  /** The item as JSON. */
  item: string;
}

export interface ItemRow extends RunItemRow {
  run_id: string;
}

/** Reads rows; damaged values are replaced or left out as in `stored-json.ts`. */
export class RowReader {
  readonly #idOf: (key: string) => string;

  /** @param idOf - Converts a stored key back to the id. */
  constructor(idOf: (key: string) => string) {
    this.#idOf = idOf;
  }

  /** Returns the session's record; undefined if the record is damaged. */
  session({ session_id: key, record }: SessionRow): SessionRecord | undefined {
    return readSession(record, this.#idOf(key));
  }

  /** Returns the sessions; leaves out damaged records. */
  sessions(rows: readonly SessionRow[]): SessionRecord[] {
    return rows.flatMap((row) => this.session(row) ?? []);
  }

  /** The ids of sessions whose records are damaged. */
  damagedSessions(rows: readonly SessionRow[]): string[] {
    return rows
      .filter((row) => this.session(row) === undefined)
      .map((row) => this.#idOf(row.session_id));
  }

  head({ run_id: runKey, session_id: sessionKey, head }: HeadRow): ResponseHead {
    return readHead(head, { runId: this.#idOf(runKey), sessionId: this.#idOf(sessionKey) });
  }

  item(row: ItemRow): StoredItem {
    return storedItem(this.#idOf(row.run_id), row);
  }

  /** Returns the items of one run. */
  items(runKey: string, rows: readonly RunItemRow[]): StoredItem[] {
    const runId = this.#idOf(runKey);
    return rows.map((row) => storedItem(runId, row));
  }

  /** The hit for an item, if the item matches. */
  hit(row: ItemRow & { session_id: string }, query: ParsedQuery): SearchHit | undefined {
    return itemHit(this.#idOf(row.session_id), this.item(row), query);
  }

  /** Returns the grants; leaves out damaged grants. */
  grants(rows: readonly { record: string }[]): Grant[] {
    return rows.flatMap(({ record }) => readGrant(record) ?? []);
  }
}

export function storedItem(runId: string, { item_index: index, item }: RunItemRow): StoredItem {
  return { runId, index, item: readItem(item, index) };
}
