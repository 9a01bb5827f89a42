import { setTimeout as delay } from 'node:timers/promises';
import { StorageError } from '../../errors.ts';

/** ms from one try to the next. */
const RETRY_MS = 200;

/**
 * Asks until Redis answers; undefined when nobody wants to know any more.
 * @param onRefused - To be done before the next try.
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
