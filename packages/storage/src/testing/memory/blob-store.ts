import type { BlobInfo, BlobStore, StoredBlob } from '../../blob-store.ts';
import { blobHash } from '../../store/blob-bytes.ts';

interface MemoryBlob extends StoredBlob {
  holders: Set<string>;
  /** When the blob was last uploaded, ms since the epoch; absent once a session holds it. */
  waitingSince?: number | undefined;
}

/** Copies its inputs and outputs, so that a caller's later changes do not change the store. */
export class MemoryBlobStore implements BlobStore {
  readonly #blobs = new Map<string, MemoryBlob>();
  readonly #now: () => number;

  readonly #deleted: ReadonlySet<string>;

  /**
   * @param now - The clock, ms since the epoch.
   * @param deleted - Ids of deleted sessions.
   */
  constructor(now: () => number, deleted: ReadonlySet<string>) {
    this.#now = now;
    this.#deleted = deleted;
  }

  async put(
    bytes: Uint8Array,
    { mimeType, sessionId }: { mimeType: string; sessionId?: string },
  ): Promise<BlobInfo> {
    const hash = await blobHash(bytes);
    const blob = this.#blobs.get(hash) ?? {
      hash,
      mimeType,
      size: bytes.length,
      bytes: Uint8Array.from(bytes),
      holders: new Set(),
    };
    if (sessionId === undefined || this.#deleted.has(sessionId)) blob.waitingSince = this.#now();
    else blob.holders.add(sessionId);
    this.#blobs.set(hash, blob);
    return { hash, mimeType: blob.mimeType, size: blob.size };
  }

  async get(hash: string): Promise<StoredBlob | undefined> {
    const blob = this.#blobs.get(hash);
    if (!blob) return undefined;
    const { mimeType, size, bytes } = blob;
    return { hash, mimeType, size, bytes: Uint8Array.from(bytes) };
  }

  async hold(sessionId: string, hashes: readonly string[]): Promise<string[]> {
    const wanted = [...new Set(hashes)];
    const missing = wanted.filter((hash) => !this.#blobs.has(hash));
    if (missing.length > 0 || this.#deleted.has(sessionId)) return missing;
    for (const blob of wanted.flatMap((hash) => this.#blobs.get(hash) ?? [])) {
      blob.holders.add(sessionId);
      blob.waitingSince = undefined;
    }
    return [];
  }

  async now(): Promise<number> {
    return this.#now();
  }

  async sweep(before: number): Promise<number> {
    const old = [...this.#blobs.values()].filter(
      ({ holders, waitingSince = Infinity }) => holders.size === 0 && waitingSince < before,
    );
    for (const { hash } of old) this.#blobs.delete(hash);
    return old.length;
  }

  /** Ends a session's holds, and removes blobs that no session needs any more. */
  release(sessionId: string): void {
    for (const { hash, holders, waitingSince } of this.#blobs.values()) {
      const isLast = holders.delete(sessionId) && holders.size === 0;
      if (isLast && waitingSince === undefined) this.#blobs.delete(hash);
    }
  }
}
