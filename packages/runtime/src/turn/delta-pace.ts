/** The share of one core that appending and delivering deltas one at a time may take. */
const share = 0.1;
/** The most unused time that is saved for later appends, in ms of one core. */
const savedMaxMs = 5;

/**
 * Decides how long a run gathers deltas before it appends them together. While the server has time, a delta is
 * appended at once. The more time appends and deliveries take, the longer deltas are gathered, but never longer than
 * the cadence.
 *
 * All runs of a server share one pace, because they share its thread: together, their appends of deltas take about a
 * tenth of the thread's time, however many runs, subscribers or deltas there are.
 */
export class DeltaPace {
  readonly #cadenceMs: number;
  readonly #now: () => number;
  /** How much time appends may take now, in ms; below 0, appends must wait. */
  #saved = savedMaxMs;
  #savedAt: number;

  /** @param cadenceMs - The longest time that deltas are gathered, in ms; 0: never. */
  constructor(cadenceMs: number, now: () => number = performance.now.bind(performance)) {
    this.#cadenceMs = cadenceMs;
    this.#now = now;
    this.#savedAt = now();
  }

  /** Whether deltas are gathered: only if the cadence is not 0. */
  get gathers(): boolean {
    return this.#cadenceMs > 0;
  }

  /**
   * Returns how long a run must still gather deltas, in ms; 0 or less if the run may append now.
   *
   * @param lastAt - When the run last appended deltas, on the same clock as `now`.
   */
  wait(lastAt: number): number {
    const now = this.#now();
    this.#saved = Math.min(savedMaxMs, this.#saved + (now - this.#savedAt) * share);
    this.#savedAt = now;
    if (this.#saved >= 0) return 0;
    return Math.min(-this.#saved / share, lastAt + this.#cadenceMs - now);
  }

  /** Records the time that an append of deltas has taken, in ms. */
  spent(ms: number): void {
    // Limit the debt to one cadence, so that a single long append does not slow all runs for seconds.
    this.#saved = Math.max(-this.#cadenceMs * share, this.#saved - ms);
  }
}
