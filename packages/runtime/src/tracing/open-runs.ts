/** How many runs are kept in mind: one that its writer leaves without an end must not stay for good. */
const MAX = 1_000;

/** What is known of runs under way, by run; the oldest is let go where there are too many. */
export class OpenRuns<T> {
  readonly #runs = new Map<string, T>();
  readonly #letGo: (run: T) => void;

  constructor(letGo: (run: T) => void) {
    this.#letGo = letGo;
  }

  /** The run's entry, made if there is none; none is kept of a run for which nothing is made. */
  get(runId: string, make: () => T | undefined): T | undefined {
    const known = this.#runs.get(runId);
    if (known !== undefined) return known;
    const made = make();
    if (made === undefined) return undefined;
    this.#runs.set(runId, made);
    const [oldest] = this.#runs.keys();
    if (this.#runs.size > MAX && oldest !== undefined) this.end(oldest);
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
