import { setTimeout as delay } from 'node:timers/promises';
import { hasEndInHistory, type Storage } from '../history/index.ts';

/** Delay before history is read again, in ms. */
const retryMs = 1_000;
/** How long to wait at most until history has the end of a run that the log has lost, in ms. */
const goneMs = 60_000;

interface HistorySource {
  storage: Storage;
  onTrouble: (error: unknown) => void;
}

/** Resolves when history has a run's end, after `goneMs`, or when the signal aborts. */
export async function untilEndInHistory(
  source: HistorySource,
  runId: string,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + goneMs;
  while (!signal.aborted && performance.now() < deadline && !(await hasEnd(source, runId))) {
    await delay(retryMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Whether history has the run's end. Also false if the store cannot be read. */
export async function hasEnd(
  { storage, onTrouble }: HistorySource,
  runId: string,
): Promise<boolean> {
  try {
    return await hasEndInHistory(storage, runId);
  } catch (error) {
    onTrouble(error);
    return false;
  }
}
