/** What a label says of a value that is one too many. */
const otherValue = 'other';

/** The longest value, in characters. */
const LENGTH_MAX = 100;

/**
 * Bounds the distinct values of a label: each is kept in memory, by us and by whoever reads the metrics, and an agent may
 * name as many models and codes as it likes. The first ones are kept; later ones are `other`.
 */
export class LabelValues {
  readonly #max: number;
  readonly #known = new Set<string>();

  constructor(max: number) {
    this.#max = max;
  }

  bound(value: string): string {
    const short = value === '' ? 'unknown' : headOf(value, LENGTH_MAX);
    if (!this.#known.has(short) && this.#known.size >= this.#max) return otherValue;
    this.#known.add(short);
    return short;
  }
}
import { headOf } from '@liminal/protocol';
