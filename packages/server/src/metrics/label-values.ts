/** The label that replaces values beyond the limit. */
const otherValue = 'other';

/** The longest label value, in characters. */
const lengthMax = 100;

/**
 * Limits the number of distinct values of a label: the server and each metrics store keep every value in memory, and an
 * agent may report any number of models and codes. The first values are kept; all values after them become `other`.
 */
export class LabelValues {
  readonly #max: number;
  readonly #known = new Set<string>();

  constructor(max: number) {
    this.#max = max;
  }

  bound(value: string): string {
    const short = value === '' ? 'unknown' : headOf(value, lengthMax);
    if (!this.#known.has(short) && this.#known.size >= this.#max) return otherValue;
    this.#known.add(short);
    return short;
  }
}
import { headOf } from '@liminal/protocol';
