import type { StatementSync } from 'node:sqlite';
import type { Database } from './database.ts';
import { idOf, keyOf } from './id-key.ts';

export type BlobKey = number | bigint;

/** A blob without its bytes. */
export interface TableBlob {
  key: BlobKey;
  mimeType: string;
}

interface BlobRow {
  blob_key: number;
  mime_type: string;
}

/**
 * The tables of blobs and their statements. A blob without a hash is invisible to readers: it is being written, or is
 * no longer needed. The caller wraps writes in a transaction.
 */
export class BlobTable {
  readonly #insert: StatementSync;
  readonly #insertPart: StatementSync;
  readonly #name: StatementSync;
  readonly #find: StatementSync;
  readonly #part: StatementSync;
  readonly #wait: StatementSync;
  readonly #hold: StatementSync;
  readonly #held: StatementSync;
  readonly #letGo: StatementSync;
  readonly #unnameUnneeded: StatementSync;
  readonly #unnameOld: StatementSync;
  readonly #drop: StatementSync;
  readonly #unnamed: StatementSync;

  constructor(database: Database) {
    const isHeld =
      'EXISTS (SELECT 1 FROM blob_holders WHERE blob_holders.blob_key = blobs.blob_key)';
    this.#insert = database.prepare('INSERT INTO blobs (mime_type) VALUES (?)');
    this.#insertPart = database.prepare(
      'INSERT INTO blob_parts (blob_key, part, bytes) VALUES (?, ?, ?)',
    );
    this.#name = database.prepare('UPDATE blobs SET hash = ? WHERE blob_key = ?');
    this.#find = database.prepare('SELECT blob_key, mime_type FROM blobs WHERE hash = ?');
    this.#part = database.prepare('SELECT bytes FROM blob_parts WHERE blob_key = ? AND part = ?');
    this.#wait = database.prepare('UPDATE blobs SET waiting_since = ? WHERE blob_key = ?');
    this.#hold = database.prepare(
      'INSERT OR IGNORE INTO blob_holders (session_id, blob_key) VALUES (?, ?)',
    );
    this.#held = database.prepare('SELECT blob_key FROM blob_holders WHERE session_id = ?');
    this.#letGo = database.prepare('DELETE FROM blob_holders WHERE session_id = ?');
    this.#unnameUnneeded = database.prepare(
      `UPDATE blobs SET hash = NULL
       WHERE blob_key = ? AND waiting_since IS NULL AND NOT ${isHeld}`,
    );
    this.#unnameOld = database.prepare(
      `UPDATE blobs SET hash = NULL, waiting_since = NULL
       WHERE waiting_since < ? AND NOT ${isHeld} RETURNING blob_key`,
    );
    this.#drop = database.prepare('DELETE FROM blobs WHERE blob_key = ? AND hash IS NULL');
    this.#unnamed = database.prepare('SELECT blob_key FROM blobs WHERE hash IS NULL');
  }

  /** Adds a blob, which has no hash yet. */
  add(mimeType: string): BlobKey {
    return this.#insert.run(keyOf(mimeType)).lastInsertRowid;
  }

  addPart(key: BlobKey, part: number, bytes: Uint8Array): void {
    this.#insertPart.run(key, part, bytes);
  }

  name(key: BlobKey, hash: string): void {
    this.#name.run(hash, key);
  }

  find(hash: string): TableBlob | undefined {
    const row = this.#find.get(hash) as BlobRow | undefined;
    return row && { key: row.blob_key, mimeType: idOf(row.mime_type) };
  }

  part(key: BlobKey, part: number): Uint8Array | undefined {
    const row = this.#part.get(key, part) as { bytes: Uint8Array } | undefined;
    return row?.bytes;
  }

  /** Sets the time from which a blob waits for a session (ms since the epoch); null if the blob does not wait. */
  wait(key: BlobKey, since: number | null): void {
    this.#wait.run(since, key);
  }

  hold(sessionId: string, key: BlobKey): void {
    this.#hold.run(keyOf(sessionId), key);
  }

  /** Ends a session's holds. Returns the blobs that no session needs any more; their hashes are then removed. */
  release(sessionId: string): BlobKey[] {
    const session = keyOf(sessionId);
    const held = keysOf(this.#held.all(session));
    this.#letGo.run(session);
    return held.filter((key) => this.#unnameUnneeded.run(key).changes > 0);
  }

  /**
   * Finds uploads that are older than a time (ms since the epoch) and that no session holds. Removes their hashes, and
   * returns these blobs.
   */
  unnameOld(before: number): BlobKey[] {
    return keysOf(this.#unnameOld.all(before));
  }

  /** Deletes a blob with its bytes, if it has no hash. */
  drop(key: BlobKey): void {
    this.#drop.run(key);
  }

  /** The blobs without a hash. */
  unnamed(): BlobKey[] {
    return keysOf(this.#unnamed.all());
  }
}

function keysOf(rows: unknown[]): BlobKey[] {
  return (rows as BlobRow[]).map((row) => row.blob_key);
}
