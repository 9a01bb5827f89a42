import type { BlobStore } from '@liminal/storage';

/** How long an uploaded file waits for its message, in ms. */
const waitsMs = 24 * 60 * 60_000;
/** How often uploads are checked, in ms. */
const everyMs = 60 * 60_000;

/**
 * Removes uploads whose message was never sent, now and every hour, by the store’s clock. Returns a function that
 * stops the removal.
 */
export function sweepUploads(blobs: BlobStore, onTrouble: (error: unknown) => void): () => void {
  const sweep = async (): Promise<unknown> => blobs.sweep((await blobs.now()) - waitsMs);
  const trySweep = (): void => void sweep().catch(onTrouble);
  trySweep();
  const timer = setInterval(trySweep, everyMs).unref();
  return () => clearInterval(timer);
}
