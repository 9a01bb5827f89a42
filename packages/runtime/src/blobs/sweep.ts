import type { BlobStore } from '@liminal/storage';

/** How long an uploaded file waits for its message, ms. */
const waitsMs = 24 * 60 * 60_000;
/** How often uploads are looked at, ms. */
const everyMs = 60 * 60_000;

/** Removes uploads whose message never came, now and every hour, by the store’s clock. Returns what ends that. */
export function sweepUploads(blobs: BlobStore, onTrouble: (error: unknown) => void): () => void {
  const sweep = async (): Promise<unknown> => blobs.sweep((await blobs.now()) - waitsMs);
  const trySweep = (): void => void sweep().catch(onTrouble);
  trySweep();
  const timer = setInterval(trySweep, everyMs).unref();
  return () => clearInterval(timer);
}
