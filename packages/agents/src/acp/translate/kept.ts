/** As many things are kept for a later turn; the newest count. */
const MAX_KEPT = 100;

/** What there is no place for and came when no turn ran, or found no item in its turn: for the next one. */
export class Kept {
  #things: unknown[] = [];
  /** News of calls that ended with their turn: the last of each. */
  readonly #late = new Map<string, unknown>();

  add(...things: unknown[]): void {
    this.#things = [...this.#things, ...things].slice(-MAX_KEPT);
  }

  late(callId: string, update: unknown): void {
    if (this.#late.size < MAX_KEPT || this.#late.has(callId)) this.#late.set(callId, update);
  }

  take(): unknown[] {
    const things = [...this.#things, ...this.#late.values()];
    this.#things = [];
    this.#late.clear();
    return things;
  }
}
