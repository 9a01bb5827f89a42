import type { Generated } from 'kysely';
import { RowReader } from '../store/rows.ts';
import { idOfTextKey } from '../store/text-key.ts';

/**
 * A row's key. It is a text, because the library returns PostgreSQL's 64-bit numbers as text. Keys are only compared
 * with each other and passed back to the database.
 */
export type Key = string;

export const rowReader = new RowReader(idOfTextKey);

export interface Tables {
  sessions: {
    session_id: string;
    project_id: string;
    active: boolean;
    created_at: string;
    updated_at: string;
    fence: number;
    /** The title's words, separated by spaces. */
    title_words: string;
    /** The whole record as JSON; other columns repeat fields for searching and sorting. */
    record: string;
  };
  responses: {
    response_key: Generated<Key>;
    run_id: string;
    session_id: string;
    last_seq: number;
    item_count: number;
    /** The Response without its items, as JSON. */
    head: string;
  };
  items: {
    response_key: Key;
    item_index: number;
    /** The item as JSON. */
    item: string;
    /** The item's words for search; null while the item may still change. */
    words: string | null;
    /** A hash of the key that a call, its outputs and its permission requests share; null for other items. */
    call_hash: string | null;
  };
  blobs: {
    hash: string;
    mime_type: string;
    bytes: Buffer;
    /** When the blob was last uploaded, ms since the epoch; null once a session holds it. */
    waiting_since: number | null;
  };
  deleted_sessions: {
    session_id: string;
  };
  grants: {
    grant_key: Generated<Key>;
    project_id: string;
    /** The hash of project and rule. */
    hash: string;
    /** The whole grant as JSON. */
    record: string;
  };
  kept_events: {
    run_id: string;
    from_seq: number;
    session_id: string;
    /** The events as JSON. */
    events: string;
  };
  blob_holders: {
    session_id: string;
    hash: string;
  };
}
