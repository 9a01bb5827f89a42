import { setTimeout as delay } from 'node:timers/promises';
import type { Response } from '@liminal/protocol';
import type { Board, Unsubscribe } from '@liminal/storage';
import { settledPrefix } from './projector.ts';
import type { Storage } from '../history/index.ts';

/** How often history is checked for an awaited run, in ms. The check finds runs whose posting was missed. */
const lookMs = 2_000;

/**
 * Waits until a projector has brought a run into history. If the log has lost the run's end (a Redis failover can do
 * that), no projector will store the run, so this server does.
 */
export class SettledRuns {
  readonly #storage: Storage;
  readonly #waiting = new Map<string, () => void>();
  #unsubscribe: Unsubscribe | undefined;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  async open(board: Board): Promise<void> {
    this.#unsubscribe = await board.watch(settledPrefix, {
      onPost: (name) => this.#waiting.get(name.slice(settledPrefix.length))?.(),
      // Missed postings are found by checking history.
      onGap: () => {},
    });
  }

  /** Resolves when history has the run, or when the signal aborts. */
  async wait(run: Response, signal: AbortSignal): Promise<void> {
    const settled = Promise.withResolvers<void>();
    this.#waiting.set(run.id, settled.resolve);
    const done = new AbortController();
    try {
      const either = AbortSignal.any([signal, done.signal]);
      await Promise.race([settled.promise, this.#look(run, either)]);
    } finally {
      done.abort();
      this.#waiting.delete(run.id);
    }
  }

  async close(): Promise<void> {
    await this.#unsubscribe?.();
  }

  async #look(run: Response, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await delay(lookMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const isThere = await this.#ensureStored(run).catch(() => false);
      if (isThere) return;
    }
  }

  /** Returns whether history has the run. If the log no longer has the whole run, stores the run. */
  async #ensureStored(run: Response): Promise<boolean> {
    const { log, store, cluster } = this.#storage;
    const { id, lastSeq, sessionId } = run;
    // Reads the log first: if the log drops the run in the meantime, the run is in the store.
    const [last] = await log.read(id, { after: lastSeq - 1, limit: 1 });
    const stored = await store.getResponse(id);
    if (stored && stored.lastSeq >= lastSeq) return true;
    if (last) return false;
    await store.saveResponse(run);
    await log.settle(id);
    await cluster?.notifyEndInHistory({ runId: id, sessionId });
    return true;
  }
}
