import { setTimeout as delay } from 'node:timers/promises';

interface Trying {
  /** Nobody waits any more: what is tried then is tried for the last time. */
  signal: AbortSignal;
  /** ms from one try to the next. */
  everyMs: number;
  /** Hears why a try has failed. */
  onTrouble: (error: unknown) => void;
}

/** Tries a step again and again until it is done; undefined where nobody waits for it any more. */
export async function untilDone<T>(
  step: () => Promise<T>,
  { signal, everyMs, onTrouble }: Trying,
): Promise<T | undefined> {
  for (;;) {
    try {
      return await step();
    } catch (error) {
      onTrouble(error);
      if (signal.aborted) return undefined;
      await delay(everyMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
