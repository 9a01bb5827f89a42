import type { ContentBlock, EventDraft, OutputItem, Response } from '@liminal/protocol';
import type { BlobStore } from '@liminal/storage';
import { type Found, referTo } from './references.ts';

/** Puts the bytes of what one session says into the blob store. */
export class BlobKeeper {
  readonly #blobs: BlobStore;
  readonly #sessionId: string;
  /** Not stored yet, by hash. */
  readonly #waiting = new Map<string, Found>();
  /** Stored and held here: an item tells its images more than once. */
  readonly #kept = new Set<string>();

  constructor(blobs: BlobStore, sessionId: string) {
    this.#blobs = blobs;
    this.#sessionId = sessionId;
  }

  /** Characters of base64 that wait to be stored. */
  get waiting(): number {
    let size = 0;
    for (const { bytes } of this.#waiting.values()) size += bytes.length;
    return Math.ceil((size * 4) / 3);
  }

  /** The event with names for its bytes, which wait until `store`. */
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

  /** Stores what waits. Rejects as the store does; nothing is lost then. */
  async store(): Promise<void> {
    for (const [hash, { bytes, mimeType }] of this.#waiting) {
      await this.#blobs.put(bytes, { mimeType, sessionId: this.#sessionId });
      this.#waiting.delete(hash);
      this.#kept.add(hash);
    }
  }

  /** Runs from an agent's own store, with their bytes stored. */
  async keep(runs: readonly Response[]): Promise<Response[]> {
    const kept = runs.map((run) => ({
      ...run,
      outputItems: run.outputItems.map((item) => this.#item(item)),
    }));
    await this.store();
    return kept;
  }

  #item(item: OutputItem): OutputItem {
    if (!('blocks' in item) || item.blocks === undefined) return item;
    return { ...item, blocks: this.#refer(item.blocks) };
  }

  #refer(blocks: readonly ContentBlock[]): ContentBlock[] {
    return blocks.map((one) => {
      const { block, found } = referTo(one);
      if (found !== undefined && !this.#kept.has(found.hash)) this.#waiting.set(found.hash, found);
      return block;
    });
  }
}
