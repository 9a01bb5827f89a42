/**
 * History in a Convex deployment, for any number of servers. Convex's libraries are loaded when a deployment is
 * opened.
 */
import type { OpenedDatabase } from '../storage.ts';

/**
 * Opens a store and its blobs in a Convex deployment with the functions of `packages/storage/convex/` (see
 * docs/convex.md). Throws StorageError `DATABASE_UNUSABLE` or `DATA_TOO_NEW`.
 * @param secret - The deployment's `LIMINAL_SECRET`.
 */
export async function openConvex(url: string, secret: string): Promise<OpenedDatabase> {
  const driver = await import('./open.ts');
  return driver.openConvex(url, secret);
}
