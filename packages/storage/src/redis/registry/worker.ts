import { Signal } from '../../signal.ts';
import type { Announced } from '../log/index.ts';

/** A worker that projects runs: the runs that it has claimed, and the claimed runs that it has not begun. */
export class RegistryWorker {
  /** The worker's name in the consumer group. */
  readonly consumer: string;
  readonly #signal = new Signal();
  /** The runs that the worker has claimed and not finished. */
  readonly #known = new Set<string>();
  readonly #waiting: Announced[] = [];

  constructor(consumer: string) {
    this.consumer = consumer;
  }

  /** Adds claimed runs; skips runs that were added before. */
  take(runs: readonly Announced[]): void {
    const unknown = runs.filter(({ runId }) => !this.#known.has(runId));
    for (const { runId } of unknown) this.#known.add(runId);
    this.#waiting.push(...unknown);
    if (unknown.length > 0) this.notify();
  }

  /** Offers a run to the worker again. */
  putBack(run: Announced): void {
    this.#waiting.push(run);
    this.notify();
  }

  next(): Announced | undefined {
    return this.#waiting.shift();
  }

  forget(runId: string): void {
    this.#known.delete(runId);
  }

  /** Wakes the worker, because there may be a run to project. */
  notify(): void {
    this.#signal.notify();
  }

  async waitForSignal(): Promise<void> {
    await this.#signal.wait();
  }
}
