import { blobIn, type Response } from '@liminal/protocol';
import type { BlobStore } from '@liminal/storage';

/** Registers the blobs that runs refer to as used by a session. Does not restore blobs that are no longer stored. */
export async function holdAgain(
  blobs: BlobStore,
  sessionId: string,
  runs: readonly Response[],
): Promise<void> {
  const items = runs.flatMap(({ outputItems }) => outputItems);
  const blocks = items.flatMap((item) => ('blocks' in item && item.blocks) || []);
  const hashes = [...new Set(blocks.flatMap((block) => blobIn(block) ?? []))];
  const missing = new Set(await blobs.hold(sessionId, hashes));
  if (missing.size === 0) return;
  await blobs.hold(
    sessionId,
    hashes.filter((hash) => !missing.has(hash)),
  );
}
