import { withRetries } from '@liminal/protocol';
import { setTimeout as delay } from 'node:timers/promises';

interface RetryOptions {
  /** When this signal has aborted, a failed try is not repeated. */
  signal: AbortSignal;
  /** The delay between two tries, in ms. */
  everyMs: number;
  /** Called with the error of each failed try. */
  onTrouble: (error: unknown) => void;
}

/**
 * Retries a step until it succeeds, and resolves with its result; resolves with undefined if the signal aborts first.
 */
export async function retry<T>(
  step: () => Promise<T>,
  { signal, everyMs, onTrouble }: RetryOptions,
): Promise<T | undefined> {
  let isOver = false;
  return withRetries(
    async () => (isOver ? undefined : step()),
    async (error) => {
      onTrouble(error);
      isOver = signal.aborted;
      if (!isOver) await delay(everyMs, undefined, { signal }).catch(() => undefined);
    },
  );
}
