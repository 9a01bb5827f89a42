import type { BlobStore } from '@liminal/storage';

/** How long an uploaded file waits for its message, ms. */
const waitsMs = 24 * 60 * 60_000;
/** How often uploads are looked at, ms. */
const everyMs = 60 * 60_000;

/** Removes uploads whose message never came, now and every hour. Returns what ends that. */
export function sweepUploads(
  blobs: BlobStore,
  now: () => number,
  onTrouble: (error: unknown) => void,
): () => void {
  const sweep = (): void => void blobs.sweep(now() - waitsMs).catch(onTrouble);
  sweep();
  const timer = setInterval(sweep, everyMs).unref();
  return () => clearInterval(timer);
}
