import type { Announced } from '../log/index.ts';
import { Bell } from './bell.ts';

/** One who brings runs to their end: what it has been given, and what it is still to be given. */
export class Worker {
  /** Its name in the consumer group. */
  readonly consumer: string;
  readonly #bell = new Bell();
  /** What it has claimed and not done. */
  readonly #known = new Set<string>();
  readonly #waiting: Announced[] = [];

  constructor(consumer: string) {
    this.consumer = consumer;
  }

  /** Takes what is claimed for it; what it knows already stays as it is. */
  take(runs: readonly Announced[]): void {
    const unknown = runs.filter(({ runId }) => !this.#known.has(runId));
    for (const { runId } of unknown) this.#known.add(runId);
    this.#waiting.push(...unknown);
    if (unknown.length > 0) this.ring();
  }

  /** Is to be given a run once more. */
  putBack(run: Announced): void {
    this.#waiting.push(run);
    this.ring();
  }

  next(): Announced | undefined {
    return this.#waiting.shift();
  }

  forget(runId: string): void {
    this.#known.delete(runId);
  }

  /** There may be something to do. */
  ring(): void {
    this.#bell.ring();
  }

  async heard(): Promise<void> {
    await this.#bell.heard();
  }
}
