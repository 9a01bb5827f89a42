import { errors } from '../errors.ts';
import type { BlobInfo, BlobStore, StoredBlob } from '../blob-store.ts';
import { yieldToEventLoop } from '../yield-to-event-loop.ts';
import { blobHash, joinParts, splitBytes } from '../store/blob-bytes.ts';
import type { BlobKey } from './blob-table.ts';
import { BlobTable } from './blob-table.ts';
import type { Database } from './database.ts';
import { DeletedSessions } from './deleted-sessions.ts';

interface NamedBlob {
  hash: string;
  mimeType: string;
  sessionId: string | undefined;
}

/**
 * Blobs in SQLite. Bytes are read and written in parts, and other work runs between two parts. While the parts of a
 * blob are being written, the blob has no hash and cannot be found; the last step adds the hash. When no session needs
 * a blob any more, its hash is removed in one step, and its bytes are deleted afterwards.
 */
export class SqliteBlobStore implements BlobStore {
  readonly #database: Database;
  readonly #table: BlobTable;
  readonly #deleted: DeletedSessions;
  /** Blobs without a hash whose bytes must be deleted. */
  readonly #unneeded: Set<BlobKey>;
  /** Unfinished writes by hash. If the same bytes are put several times at once, they are written only once. */
  readonly #adding = new Map<string, Promise<string>>();

  constructor(database: Database) {
    this.#database = database;
    this.#table = new BlobTable(database);
    this.#deleted = new DeletedSessions(database);
    this.#unneeded = new Set(this.#table.unnamed());
    void this.clear([]);
  }

  async put(
    bytes: Uint8Array,
    { mimeType, sessionId }: { mimeType: string; sessionId?: string },
  ): Promise<BlobInfo> {
    const hash = await blobHash(bytes);
    for (;;) {
      const stored = await this.#write(() => this.#holdOrWait(hash, sessionId));
      const adding = this.#adding.get(hash);
      if (stored === undefined && adding) {
        await adding.catch(() => undefined);
        continue;
      }
      const storedType = stored ?? (await this.#add(bytes, { hash, mimeType, sessionId }));
      return { hash, mimeType: storedType, size: bytes.length };
    }
  }

  async get(hash: string): Promise<StoredBlob | undefined> {
    for (;;) {
      const stored = this.#find(hash);
      if (!stored) return undefined;
      const bytes = await joinParts(hash, await this.#parts(stored.key));
      if (bytes) return { hash, mimeType: stored.mimeType, size: bytes.length, bytes };
      // If the blob is still stored, its bytes are damaged; otherwise it was removed during the read.
      if (this.#find(hash)?.key === stored.key) throw errors.STORE_READ_FAILED.blob(hash);
    }
  }

  async hold(sessionId: string, hashes: readonly string[]): Promise<string[]> {
    return this.#write(() => {
      const wanted = [...new Set(hashes)].map((hash) => ({ hash, stored: this.#table.find(hash) }));
      const missing = wanted.flatMap(({ hash, stored }) => (stored ? [] : hash));
      if (missing.length > 0 || this.#deleted.has(sessionId)) return missing;
      for (const { key } of wanted.flatMap(({ stored }) => stored ?? [])) {
        this.#table.hold(sessionId, key);
        this.#table.wait(key, null);
      }
      return [];
    });
  }

  async now(): Promise<number> {
    return Date.now();
  }

  async sweep(before: number): Promise<number> {
    const old = await this.#write(() => this.#table.unnameOld(before));
    await this.clear(old);
    return old.length;
  }

  /** Ends a session's holds, within the caller's transaction. Returns the blobs whose bytes must be deleted. */
  release(sessionId: string): BlobKey[] {
    return this.#table.release(sessionId);
  }

  /**
   * Deletes the bytes of these blobs, whose hashes are already removed, and of earlier blobs whose bytes could not be
   * deleted.
   */
  async clear(keys: readonly BlobKey[]): Promise<void> {
    for (const key of keys) this.#unneeded.add(key);
    for (const key of this.#unneeded) {
      try {
        await this.#write(() => this.#table.drop(key));
      } catch {
        // The error is ignored: these bytes only take up space, and the next call or the next start deletes them.
        return;
      }
      this.#unneeded.delete(key);
      if (this.#unneeded.size > 0) await yieldToEventLoop();
    }
  }

  async #add(bytes: Uint8Array, named: NamedBlob): Promise<string> {
    const adding = this.#writeParts(bytes, named);
    this.#adding.set(named.hash, adding);
    try {
      return await adding;
    } finally {
      this.#adding.delete(named.hash);
    }
  }

  /** Writes a blob in parts. Returns its media type. */
  async #writeParts(bytes: Uint8Array, { hash, mimeType, sessionId }: NamedBlob): Promise<string> {
    const key = await this.#write(() => this.#table.add(mimeType));
    try {
      for (const [at, part] of splitBytes(bytes).toArray().entries()) {
        if (at > 0) await yieldToEventLoop();
        await this.#write(() => this.#table.addPart(key, at, part));
      }
      await this.#write(() => {
        this.#table.name(key, hash);
        this.#holdOrWait(hash, sessionId);
      });
      return mimeType;
    } catch (error) {
      await this.clear([key]);
      throw error;
    }
  }

  /**
   * Adds a session's hold; or, without a session, makes the blob wait for a session from now on. Returns the blob's
   * media type, or undefined if the blob is not stored.
   */
  #holdOrWait(hash: string, sessionId: string | undefined): string | undefined {
    const stored = this.#table.find(hash);
    if (!stored) return undefined;
    const waits = sessionId === undefined || this.#deleted.has(sessionId);
    if (waits) this.#table.wait(stored.key, Date.now());
    else this.#table.hold(sessionId, stored.key);
    return stored.mimeType;
  }

  async #parts(key: BlobKey): Promise<Uint8Array[]> {
    const parts: Uint8Array[] = [];
    for (;;) {
      const part = this.#database.read(() => this.#table.part(key, parts.length));
      if (!part) return parts;
      parts.push(part);
      await yieldToEventLoop();
    }
  }

  #find(hash: string) {
    return this.#database.read(() => this.#table.find(hash));
  }

  async #write<T>(work: () => T): Promise<T> {
    return this.#database.writeInTurn('STORE_WRITE_FAILED', work);
  }
}
