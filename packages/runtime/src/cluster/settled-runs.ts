import { setTimeout as delay } from 'node:timers/promises';
import type { Response } from '@liminal/protocol';
import type { Board, ResponseStore, Unsubscribe } from '@liminal/storage';
import { settledPrefix } from '../projector.ts';

/** How often a run that waits is looked for in history, in ms, in case that nobody said when it came there. */
const LOOK_MS = 2_000;

/** Waits for runs to come into history, where some projector brings them. */
export class SettledRuns {
  readonly #store: ResponseStore;
  readonly #waiting = new Map<string, () => void>();
  #leave: Unsubscribe | undefined;

  constructor(store: ResponseStore) {
    this.#store = store;
  }

  async open(board: Board): Promise<void> {
    this.#leave = await board.watch(settledPrefix, {
      onPost: (name) => this.#waiting.get(name.slice(settledPrefix.length))?.(),
      // What was missed is found by looking.
      onGap: () => {},
    });
  }

  /** Resolves when history has the run, or when the signal aborts. */
  async wait({ id, lastSeq }: Response, signal: AbortSignal): Promise<void> {
    const settled = Promise.withResolvers<void>();
    this.#waiting.set(id, settled.resolve);
    const done = new AbortController();
    try {
      const either = AbortSignal.any([signal, done.signal]);
      await Promise.race([settled.promise, this.#look(id, lastSeq, either)]);
    } finally {
      done.abort();
      this.#waiting.delete(id);
    }
  }

  async close(): Promise<void> {
    await this.#leave?.();
  }

  async #look(runId: string, lastSeq: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const stored = await this.#store.getResponse(runId).catch(() => undefined);
      if (stored && stored.lastSeq >= lastSeq) return;
    }
  }
}
