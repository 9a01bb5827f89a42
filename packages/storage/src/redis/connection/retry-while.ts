import { withRetries } from '@liminal/protocol';
import { setTimeout as delay } from 'node:timers/promises';
import { StorageError } from '../../errors.ts';

/** The wait between two attempts, ms. */
const retryMs = 200;

/**
 * Repeats `attempt` until Redis answers. Resolves with the answer, or with undefined once `isWanted` returns false.
 * @param onRefused - Called before the next attempt.
 */
export async function retryWhile<T>(
  isWanted: () => boolean,
  attempt: () => Promise<T>,
  onRefused?: (error: StorageError) => Promise<void>,
): Promise<T | undefined> {
  return withRetries(
    async () => (isWanted() ? attempt() : undefined),
    async (error) => {
      if (!(error instanceof StorageError)) throw error;
      await onRefused?.(error);
      await delay(retryMs);
    },
  );
}
