import { sizeOf } from '@liminal/protocol';

/** The default bounds: the number of values, and their size in about characters of JSON. */
const maxValues = 1_000;
const maxSize = 4 * 1024 * 1024;

interface Bounds {
  values?: number;
  /** Whether the last or the first values are left out when there are too many. Default: the last. */
  omits?: 'last' | 'first';
}

/** A list of an agent's values, bounded in number and size; omitted values are counted. */
export class BoundedList {
  readonly #maxValues: number;
  readonly #omits: 'last' | 'first';
  #entries: { value: unknown; size: number }[] = [];
  #size = 0;
  #omitted = 0;

  constructor({ values = maxValues, omits = 'last' }: Bounds = {}) {
    this.#maxValues = values;
    this.#omits = omits;
  }

  add(value: unknown): void {
    const size = sizeOf(value, maxSize);
    if (size > maxSize || (this.#omits === 'last' && !this.#holds(1, size))) {
      this.#omitted += 1;
      return;
    }
    while (!this.#holds(1, size)) {
      this.#size -= this.#entries.shift()?.size ?? 0;
      this.#omitted += 1;
    }
    this.#entries.push({ value, size });
    this.#size += size;
  }

  /** Whether nothing was added since the last `take`. */
  get isEmpty(): boolean {
    return this.#entries.length === 0 && this.#omitted === 0;
  }

  /** Returns the kept values, and `{ omitted: count }` for the rest. */
  take(): unknown[] {
    const values = this.#entries.map(({ value }) => value);
    if (this.#omitted > 0) values.push({ omitted: this.#omitted });
    this.#entries = [];
    this.#size = 0;
    this.#omitted = 0;
    return values;
  }

  #holds(values: number, size: number): boolean {
    return this.#entries.length + values <= this.#maxValues && this.#size + size <= maxSize;
  }
}
