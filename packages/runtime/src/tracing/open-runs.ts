import { BoundedMap } from '@liminal/protocol';

/**
 * How many runs are remembered. The limit is needed because a writer may never end its run, and the run's entry must
 * not stay for ever.
 */
const max = 1_000;

/** Data about open runs, by run; above the limit, the oldest entry is removed. */
export class OpenRuns<T> {
  readonly #runs: BoundedMap<string, T>;
  readonly #letGo: (run: T) => void;

  constructor(letGo: (run: T) => void) {
    this.#letGo = letGo;
    this.#runs = new BoundedMap(max, letGo);
  }

  /**
   * Returns the run's entry. If there is no entry, `make` creates it; if `make` returns undefined, nothing is stored.
   */
  get(runId: string, make: () => T | undefined): T | undefined {
    const known = this.#runs.get(runId);
    if (known !== undefined) return known;
    const made = make();
    if (made === undefined) return undefined;
    this.#runs.set(runId, made);
    return made;
  }

  end(runId: string): void {
    const run = this.#runs.get(runId);
    this.#runs.delete(runId);
    if (run !== undefined) this.#letGo(run);
  }

  endAll(): void {
    for (const runId of this.#runs.keys()) this.end(runId);
  }
}
