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
 * Stores blobs: bytes that events only refer to (`blob:<hash>`), such as images and files that a person attaches. The
 * same bytes are stored once, even if different users upload them under different names. A blob stays as long as a
 * session holds it, or while it is an upload that waits for its session. `ResponseStore.deleteSession` ends the
 * session's holds in the same step and removes blobs that no session needs any more; a deleted session cannot hold a
 * blob. Every driver passes `testing/blob-suite.ts`. Every write is all or nothing, and a blob is never visible in
 * part. Throws StorageError `STORE_WRITE_FAILED` and `STORE_READ_FAILED` like ResponseStore; both can be retried. A
 * malformed hash is treated as a hash that is not stored.
 */
export interface BlobStore {
  /**
   * Stores bytes, unless they are stored already; the caller must not change them until it resolves. With
   * `sessionId`, the session gets a hold on the blob in the same step; the session need not be stored. Without a
   * session, or with a deleted session, the bytes become an upload, which waits for a session from now on (a repeated
   * upload starts to wait again).
   */
  put(bytes: Uint8Array, options: { mimeType: string; sessionId?: string }): Promise<BlobInfo>;
  /** The blob; undefined if it is not stored. Throws `STORE_READ_FAILED` instead of returning damaged bytes. */
  get(hash: string): Promise<StoredBlob | undefined>;
  /**
   * Adds a session's holds on blobs: all or none. The session need not be stored. An upload that gets a hold no
   * longer waits. Resolves with the hashes that are not stored, each once and in the given order; if there are any,
   * or if the session has been deleted, no hold was added.
   */
  hold(sessionId: string, hashes: readonly string[]): Promise<string[]>;
  /** The clock for waiting uploads, ms since the epoch: servers that share the store may have different clocks. */
  now(): Promise<number>;
  /** Removes uploads from before `before` (by `now`) that no session holds. Resolves with their number. */
  sweep(before: number): Promise<number>;
}
