/** The share of one core that appending and delivering single deltas may take. */
const SHARE = 0.1;
/** How much unused time is saved up, in ms of a core. */
const SAVED_MAX_MS = 5;

/**
 * Decides how long a run gathers deltas before it appends them. While the server has time, a delta is appended at once.
 * The more the appends and their deliveries cost, the longer deltas are gathered, but never longer than the cadence.
 *
 * All runs of a server share one pace, since they share its thread: their appends of deltas together take about a tenth
 * of it, however many runs, readers or deltas there are.
 */
export class DeltaPace {
  readonly #cadenceMs: number;
  readonly #now: () => number;
  /** The time that appends may take now, in ms; below 0 they must wait. */
  #saved = SAVED_MAX_MS;
  #savedAt: number;

  /** @param cadenceMs - The longest that deltas are gathered, in ms; 0 gathers none. */
  constructor(cadenceMs: number, now: () => number = () => performance.now()) {
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
    this.#saved = Math.min(SAVED_MAX_MS, this.#saved + (now - this.#savedAt) * SHARE);
    this.#savedAt = now;
    if (this.#saved >= 0) return 0;
    return Math.min(-this.#saved / SHARE, lastAt + this.#cadenceMs - now);
  }

  /** Takes note of work that an append of deltas has cost, in ms. */
  spent(ms: number): void {
    // What was spent is owed for one cadence at the most: a single long append must not slow all runs for seconds.
    this.#saved = Math.max(-this.#cadenceMs * SHARE, this.#saved - ms);
  }
}
