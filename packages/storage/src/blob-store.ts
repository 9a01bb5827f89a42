/** A blob without its bytes. */
export interface BlobInfo {
  /** SHA-256 of the bytes, 64 lower-case hexadecimal digits. */
  hash: string;
  /** As the first `put` of these bytes named it. */
  mimeType: string;
  /** Bytes. */
  size: number;
}

export interface StoredBlob extends BlobInfo {
  bytes: Uint8Array;
}

/**
 * Bytes that events only refer to (`blob:<hash>`): images, and files that a person attaches. The same bytes are stored
 * once, whatever they are called and no matter who brings them. A blob stays as long as a session holds it, or as it is an upload
 * that waits for its session; `ResponseStore.deleteSession` ends that session's hold in the same step, and removes what
 * then nobody needs; a deleted session holds nothing any more. Every driver passes `testing/blob-suite.ts`.
 * Every write is all or nothing, and nobody sees half a blob. Throws StorageError `STORE_WRITE_FAILED` and
 * `STORE_READ_FAILED` as ResponseStore does; both can be retried. A hash that is none is one that is not stored.
 */
export interface BlobStore {
  /**
   * Stores bytes, unless they are stored already; they may not change until it resolves. With `sessionId` the session
   * holds them in the same step; it need not be stored. Without one, or with a deleted one, they are an upload, which waits for a session from
   * now on (a repeated upload begins to wait again).
   */
  put(bytes: Uint8Array, options: { mimeType: string; sessionId?: string }): Promise<BlobInfo>;
  /** Undefined if it is not stored. Throws `STORE_READ_FAILED` if the stored bytes are damaged: they never come back wrong. */
  get(hash: string): Promise<StoredBlob | undefined>;
  /**
   * Lets a session, which need not be stored, hold blobs: all or none. If they are uploads, they no longer wait.
   * Resolves with the hashes that are not stored, each once and in the given order: if there are any, or if the session
   * has been deleted, nothing has changed.
   */
  hold(sessionId: string, hashes: readonly string[]): Promise<string[]>;
  /** The time by which uploads wait, ms since the epoch: servers that share the store may have other clocks. */
  now(): Promise<number>;
  /** Removes uploads from before `before`, by `now`, that no session holds. Resolves with how many. */
  sweep(before: number): Promise<number>;
}
