import { setTimeout } from 'node:timers/promises';
import type { Gate } from './gate.ts';

interface PaceOptions {
  gate: Gate;
  everyMs: number;
  lastsMs: number;
}

/**
 * Lets one caller at a time through its gate, in the order of their calls. Between two callers, at least `everyMs`
 * pass.
 */
export class Pace {
  readonly #options: PaceOptions;
  readonly #ends: number;
  #next = performance.now();

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#ends = performance.now() + options.lastsMs;
  }

  get isOver(): boolean {
    return performance.now() >= this.#ends;
  }

  /**
   * Runs `act` when it is the caller's turn. If the machine was slow, later callers do not run sooner to make up for
   * the lost time.
   */
  async do<T>(act: () => Promise<T>): Promise<T> {
    const now = performance.now();
    this.#next = Math.max(this.#next + this.#options.everyMs, now);
    await setTimeout(this.#next - now);
    return this.#options.gate.enter(act);
  }
}
