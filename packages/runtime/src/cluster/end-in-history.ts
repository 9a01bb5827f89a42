import { setTimeout as delay } from 'node:timers/promises';
import { hasEndInHistory, type Storage } from '../history/index.ts';

/** Delay before history is read again, in ms. */
const RETRY_MS = 1_000;
/** How long to wait at most until history has a run that the log has lost, in ms. */
const GONE_MS = 60_000;

interface Asking {
  storage: Storage;
  onTrouble: (error: unknown) => void;
}

/** Resolves when history has a run's end, after `GONE_MS`, or when the signal aborts. */
export async function untilEndInHistory(
  asking: Asking,
  runId: string,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + GONE_MS;
  while (!signal.aborted && performance.now() < deadline && !(await hasEnd(asking, runId))) {
    await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Whether history has the run's end; false also if the store cannot be read. */
export async function hasEnd({ storage, onTrouble }: Asking, runId: string): Promise<boolean> {
  try {
    return await hasEndInHistory(storage, runId);
  } catch (error) {
    onTrouble(error);
    return false;
  }
}
