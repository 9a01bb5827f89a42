import { errors } from '../errors.ts';
import type { BlobInfo, BlobStore, StoredBlob } from '../blob-store.ts';
import { blobHash, joinParts } from '../store/blob-bytes.ts';
import { holdBlobs, putBlob, readBlob, sweepBlobs, timeOf } from './blobs.ts';
import type { PostgresDatabase } from './database.ts';

/** Blobs for several servers. Each write is a transaction. */
export class PostgresBlobStore implements BlobStore {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  async put(
    bytes: Uint8Array,
    { mimeType, sessionId }: { mimeType: string; sessionId?: string },
  ): Promise<BlobInfo> {
    const hash = await blobHash(bytes);
    const stored = await this.#database.write(async (db) =>
      putBlob(db, { hash, mimeType, bytes, sessionId }),
    );
    return { hash, mimeType: stored, size: bytes.length };
  }

  async get(hash: string): Promise<StoredBlob | undefined> {
    const stored = await this.#database.read(async (db) => readBlob(db, hash));
    if (!stored) return undefined;
    const bytes = await joinParts(hash, stored.parts);
    if (!bytes) throw errors.STORE_READ_FAILED.blob(hash);
    return { hash, mimeType: stored.mimeType, size: bytes.length, bytes };
  }

  async hold(sessionId: string, hashes: readonly string[]): Promise<string[]> {
    return this.#database.write(async (db) => holdBlobs(db, sessionId, hashes));
  }

  async now(): Promise<number> {
    return this.#database.read(async (db) => timeOf(db));
  }

  async sweep(before: number): Promise<number> {
    return this.#database.write(async (db) => sweepBlobs(db, before));
  }
}
