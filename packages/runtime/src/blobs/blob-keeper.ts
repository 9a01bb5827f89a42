import type { ContentBlock, EventDraft, OutputItem, Response } from '@liminal/protocol';
import type { BlobStore } from '@liminal/storage';
import { type BlobBytes, referTo } from './references.ts';

/** Moves the bytes in one session's events to the blob store. */
export class BlobKeeper {
  readonly #blobs: BlobStore;
  readonly #sessionId: string;
  /** Blobs that are not stored yet, by hash. */
  readonly #waiting = new Map<string, BlobBytes>();
  /** Hashes of the blobs that are stored for the session: several events of an item can contain the same image. */
  readonly #stored = new Set<string>();

  constructor(blobs: BlobStore, sessionId: string) {
    this.#blobs = blobs;
    this.#sessionId = sessionId;
  }

  /** The number of base64 characters that wait to be stored. */
  get waiting(): number {
    let size = 0;
    for (const { bytes } of this.#waiting.values()) size += bytes.length;
    return Math.ceil((size * 4) / 3);
  }

  /** Returns the event with references instead of bytes. The bytes are kept in memory until `store` is called. */
  take(draft: EventDraft): EventDraft {
    const { payload } = draft;
    if (payload.type === 'item_done') {
      const finalItem = this.#item(payload.finalItem);
      return finalItem === payload.finalItem
        ? draft
        : { ...draft, payload: { ...payload, finalItem } };
    }
    if (payload.type !== 'item_delta' || payload.patch?.blocks === undefined) return draft;
    const patch = { ...payload.patch, blocks: this.#refer(payload.patch.blocks) };
    return { ...draft, payload: { ...payload, patch } };
  }

  /**
   * Stores the waiting blobs. If the store rejects a blob, this method rejects too, and the blob is kept for the next
   * call.
   */
  async store(): Promise<void> {
    for (const [hash, { bytes, mimeType }] of this.#waiting) {
      await this.#blobs.put(bytes, { mimeType, sessionId: this.#sessionId });
      this.#waiting.delete(hash);
      this.#stored.add(hash);
    }
  }

  /** Stores the bytes in runs from an agent's own store, and returns the runs with references to the bytes. */
  async storeRuns(runs: readonly Response[]): Promise<Response[]> {
    const withReferences = runs.map((run) => ({
      ...run,
      outputItems: run.outputItems.map((item) => this.#item(item)),
    }));
    await this.store();
    return withReferences;
  }

  #item(item: OutputItem): OutputItem {
    if (!('blocks' in item) || item.blocks === undefined) return item;
    return { ...item, blocks: this.#refer(item.blocks) };
  }

  #refer(blocks: readonly ContentBlock[]): ContentBlock[] {
    return blocks.map((one) => {
      const { block, found } = referTo(one);
      if (found !== undefined && !this.#stored.has(found.hash))
        this.#waiting.set(found.hash, found);
      return block;
    });
  }
}
