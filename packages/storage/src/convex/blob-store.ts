import type { FunctionReturnType } from 'convex/server';
import { errors } from '../errors.ts';
import type { BlobInfo, BlobStore, StoredBlob } from '../blob-store.ts';
import { blobHash, joinParts, splitBytes } from '../store/blob-bytes.ts';
import { fittingBatches } from '../store/item-page.ts';
import { idOfTextKey, textKey } from '../store/text-key.ts';
import { api, type Deployment } from './deployment.ts';

/** The number of bytes in one part: 512 KiB when encoded in base64. */
const partSize = 384 * 1024;
/** The most parts, and the most holds, in one call: well below Convex's limits. */
const limits = { parts: 8, holds: 1_000 };

type BlobId = FunctionReturnType<typeof api.blobs.stage>;

/**
 * Blobs in a Convex deployment with the functions of `convex/`. While the parts of a blob are being stored, they are
 * not read; the last mutation makes the blob visible. One operation is weaker than the contract, because mutations are
 * limited: more than 1000 holds are added in steps. If a blob is removed between two steps, only some of the holds are
 * added.
 */
export class ConvexBlobStore implements BlobStore {
  readonly #deployment: Deployment;

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
  }

  async put(
    bytes: Uint8Array,
    { mimeType, sessionId }: { mimeType: string; sessionId?: string },
  ): Promise<BlobInfo> {
    const hash = await blobHash(bytes);
    const keep = async (staged?: BlobId) =>
      this.#deployment.mutation(api.blobs.keep, {
        hash,
        since: Date.now(),
        ...(sessionId !== undefined && { sessionId: textKey(sessionId) }),
        ...(staged !== undefined && { staged }),
      });
    const stored = await this.#deployment.write(
      // First try without sending the bytes.
      async () => (await keep()) ?? (await keep(await this.#stage(bytes, mimeType))),
    );
    return { hash, mimeType: stored === null ? mimeType : idOfTextKey(stored), size: bytes.length };
  }

  async get(hash: string): Promise<StoredBlob | undefined> {
    return this.#deployment.read(async () => {
      const stored = await this.#deployment.query(api.blobs.find, { hash: textKey(hash) });
      if (!stored) return undefined;
      const bytes = await joinParts(hash, await this.#parts(stored.blob));
      if (!bytes) throw errors.STORE_READ_FAILED.blob(hash);
      return { hash, mimeType: idOfTextKey(stored.mimeType), size: bytes.length, bytes };
    });
  }

  async hold(sessionId: string, hashes: readonly string[]): Promise<string[]> {
    const wanted = new Map(hashes.map((hash) => [textKey(hash), hash]));
    const room = { count: limits.holds, size: Infinity };
    const batches = [...fittingBatches([...wanted.keys()], () => 0, room)];
    const missing: string[] = [];
    if (batches.length > 1) {
      for (const batch of batches) missing.push(...(await this.#hold({ hashes: batch })));
    }
    for (const batch of missing.length === 0 ? batches : []) {
      missing.push(...(await this.#hold({ hashes: batch, sessionId: textKey(sessionId) })));
    }
    return missing.map((hash) => wanted.get(hash) ?? hash);
  }

  async now(): Promise<number> {
    return Date.now();
  }

  async sweep(before: number): Promise<number> {
    let count = 0;
    for (let cursor: string | null = null; ;) {
      const swept: FunctionReturnType<typeof api.blobs.sweep> = await this.#deployment.write(
        async () => this.#deployment.mutation(api.blobs.sweep, { before, cursor }),
      );
      count += swept.count;
      if (swept.next === null) return count;
      cursor = swept.next;
    }
  }

  async #hold(args: { hashes: string[]; sessionId?: string }): Promise<string[]> {
    return this.#deployment.write(async () => this.#deployment.mutation(api.blobs.hold, args));
  }

  async #stage(bytes: Uint8Array, mimeType: string): Promise<BlobId> {
    const parts = [...splitBytes(bytes, partSize)];
    let blob: BlobId | undefined;
    let from = 0;
    do {
      const some = parts.slice(from, from + limits.parts);
      blob = await this.#deployment.mutation(api.blobs.stage, {
        mimeType: textKey(mimeType),
        since: Date.now(),
        ...(blob !== undefined && { blob }),
        from,
        parts: some.map(base64),
      });
      from += some.length;
    } while (from < parts.length);
    return blob;
  }

  async #parts(blob: BlobId): Promise<Uint8Array[]> {
    const parts: Uint8Array[] = [];
    for (let from = 0; ;) {
      const found: FunctionReturnType<typeof api.blobs.read> = await this.#deployment.query(
        api.blobs.read,
        { blob, from },
      );
      parts.push(...found.parts.map((text) => Buffer.from(text, 'base64')));
      if (found.next === null) return parts;
      from = found.next;
    }
  }
}

function base64(part: Uint8Array): string {
  return Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString('base64');
}
