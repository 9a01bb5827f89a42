import { setTimeout } from 'node:timers/promises';

/** Lets one through every so many ms, in the order in which they ask, and none once it is over. */
export class Pace {
  readonly #everyMs: number;
  readonly #ends: number;
  #next = performance.now();

  constructor(everyMs: number, lastsMs: number) {
    this.#everyMs = everyMs;
    this.#ends = performance.now() + lastsMs;
  }

  get isOver(): boolean {
    return performance.now() >= this.#ends;
  }

  /** Nobody makes up for time in which the machine was slow. */
  async next(): Promise<void> {
    const now = performance.now();
    this.#next = Math.max(this.#next + this.#everyMs, now);
    await setTimeout(this.#next - now);
  }
}
