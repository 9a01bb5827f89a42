import { setTimeout as delay } from 'node:timers/promises';
import { StorageError } from '../../errors.ts';

/** The wait between two attempts, ms. */
const RETRY_MS = 200;

/**
 * Repeats `ask` until Redis answers. Resolves with the answer, or with undefined once `isWanted` returns false.
 * @param onRefused - Called before the next attempt.
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
