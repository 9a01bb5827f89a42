/** A blob without its bytes. */
export interface BlobInfo {
  /** SHA-256 of the bytes, 64 lower-case hexadecimal digits. */
  hash: string;
  /** The media type from the first `put` of these bytes. */
  mimeType: string;
  /** The size in bytes. */
  size: number;
}

export interface StoredBlob extends BlobInfo {
  bytes: Uint8Array;
}

/**
 * Stores blobs: bytes to which events only refer (`blob:<hash>`), for example images and files that a person attaches.
 * The same bytes are stored once, even if different users upload them under different names. A blob stays as long as a
 * session holds it, or while it is an upload that waits for its session. `ResponseStore.deleteSession` also ends the
 * session's holds, in the same step, and removes blobs that no session needs any more. A deleted session cannot hold a
 * blob. Every driver passes `testing/blob-suite.ts`. Every write is all or nothing, and a blob is never visible in
 * part. Throws StorageError `STORE_WRITE_FAILED` and `STORE_READ_FAILED` like ResponseStore; both can be retried. A
 * malformed hash is treated as a hash that is not stored.
 */
export interface BlobStore {
  /**
   * Stores bytes, unless they are stored already. The caller must not change the bytes until the returned promise
   * resolves. With `sessionId`, the session gets a hold on the blob in the same step. The session need not be stored.
   * Without a session, or with a deleted session, the bytes become an upload, which waits for a session from now on. If
   * the same bytes are uploaded again, the wait starts again.
   */
  put(bytes: Uint8Array, options: { mimeType: string; sessionId?: string }): Promise<BlobInfo>;
  /**
   * Returns the blob; undefined if the blob is not stored. Throws `STORE_READ_FAILED` instead of returning damaged
   * bytes.
   */
  get(hash: string): Promise<StoredBlob | undefined>;
  /**
   * Adds a session's holds on blobs: all or none. The session need not be stored. An upload that gets a hold no longer
   * waits. Resolves with the hashes that are not stored, each once and in the given order. If there are such hashes, or
   * if the session has been deleted, no hold was added.
   */
  hold(sessionId: string, hashes: readonly string[]): Promise<string[]>;
  /** The clock for waiting uploads, ms since the epoch: servers that share the store may have different clocks. */
  now(): Promise<number>;
  /**
   * Removes uploads that are older than `before` (by the clock of `now`) and that no session holds. Resolves with the
   * number of removed uploads.
   */
  sweep(before: number): Promise<number>;
}
