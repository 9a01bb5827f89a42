import { setTimeout as delay } from 'node:timers/promises';
import { StorageError } from '../../errors.ts';

/** The wait between two tries, ms. */
const RETRY_MS = 200;

/**
 * Asks until Redis answers; undefined once the answer is no longer wanted.
 * @param onRefused - Called before the next try.
 */
export async function patiently<T>(
  isWanted: () => boolean,
  ask: () => Promise<T>,
  onRefused?: (error: StorageError) => Promise<void>,
): Promise<T | undefined> {
  while (isWanted()) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      await onRefused?.(error);
      await delay(RETRY_MS);
    }
  }
  return undefined;
}
