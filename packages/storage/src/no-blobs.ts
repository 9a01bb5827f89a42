import type { BlobStore } from './blob-store.ts';
import { StorageError } from './errors.ts';

/** For databases whose blobs are not built yet: refuses all, and holds nothing. */
export function noBlobs(): BlobStore {
  return {
    put: async () => {
      throw new StorageError('STORE_WRITE_FAILED', 'This database keeps no files yet.');
    },
    get: async () => undefined,
    hold: async (_sessionId, hashes) => [...new Set(hashes)],
    sweep: async () => 0,
  };
}
