import { isRecord } from '../../../../base/parse-line.ts';

/** The fields whose pieces are joined; other fields arrive whole. */
const grown = ['text', 'summary', 'data'];

/** OpenRouter's `reasoning_details`: reasoning in the form of the model's maker, partly encrypted, in pieces. */
export class ReasoningDetails {
  readonly #parts = new Map<unknown, Record<string, unknown>>();

  /** @param pieces - The pieces of one chunk. */
  read(pieces: readonly unknown[]): void {
    for (const piece of pieces) {
      if (!isRecord(piece)) continue;
      const { index = this.#parts.size, type } = piece;
      const place = JSON.stringify([index, type]);
      const before = this.#parts.get(place) ?? {};
      const known = Object.entries(piece).filter(([, value]) => value != null);
      const sums = known.map(([name, value]): [string, unknown] => {
        const first = before[name];
        const isGrown = grown.includes(name) && typeof first === 'string';
        return [name, isGrown && typeof value === 'string' ? first + value : value];
      });
      this.#parts.set(place, { ...before, ...Object.fromEntries(sums) });
    }
  }

  /** Returns the details collected so far, and clears them. */
  take(): Record<string, unknown>[] {
    const parts = [...this.#parts.values()];
    this.#parts.clear();
    return parts;
  }
}
