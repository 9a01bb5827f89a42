/** History in a Convex deployment, for any number of servers. Its libraries are loaded when it is opened. */
import type { ResponseStore } from '../response-store.ts';

/**
 * Opens a store in a Convex deployment that has the functions of `packages/storage/convex/` (see docs/convex.md).
 * Throws StorageError `DATABASE_UNUSABLE` or `DATA_TOO_NEW`.
 * @param secret - The deployment's `LIMINAL_SECRET`.
 */
export async function openConvexStore(url: string, secret: string): Promise<ResponseStore> {
  const driver = await import('./open.ts');
  return driver.openConvexStore(url, secret);
}
