/** The share of one core that appending and delivering single deltas may take. */
const share = 0.1;
/** The most unused time that is saved up, in ms of a core. */
const savedMaxMs = 5;

/**
 * Decides how long a run gathers deltas before it appends them. While the server has time, a delta is appended at once.
 * The more the appends and their deliveries cost, the longer deltas are gathered, but never longer than the cadence.
 *
 * All runs of a server share one pace, because they share its thread: their appends of deltas together take about a
 * tenth of it, however many runs, subscribers or deltas there are.
 */
export class DeltaPace {
  readonly #cadenceMs: number;
  readonly #now: () => number;
  /** The time that appends may take now, in ms; below 0 they must wait. */
  #saved = savedMaxMs;
  #savedAt: number;

  /** @param cadenceMs - The longest time that deltas are gathered, in ms; 0: never. */
  constructor(cadenceMs: number, now: () => number = performance.now.bind(performance)) {
    this.#cadenceMs = cadenceMs;
    this.#now = now;
    this.#savedAt = now();
  }

  /** Whether deltas may be gathered at all. */
  get gathers(): boolean {
    return this.#cadenceMs > 0;
  }

  /**
   * How long a run must gather its deltas from now on, in ms; 0 or less: it need not.
   *
   * @param lastAt - When the run last appended deltas, by the same clock.
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
    // The debt is limited to one cadence: a single long append must not slow all runs for seconds.
    this.#saved = Math.max(-this.#cadenceMs * share, this.#saved - ms);
  }
}
