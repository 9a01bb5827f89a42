/**
 * A map that keeps only its newest entries: if a new entry exceeds the map's size, the oldest entry is removed. Reading
 * an entry does not make the entry newer.
 */
export class BoundedMap<K, V> {
  readonly #maxEntries: number;
  readonly #onRemoved: ((value: V) => void) | undefined;
  readonly #entries = new Map<K, V>();

  /** @param onRemoved - Called with the value of an entry that is removed for lack of room. */
  constructor(maxEntries: number, onRemoved?: (value: V) => void) {
    this.#maxEntries = maxEntries;
    this.#onRemoved = onRemoved;
  }

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  /** Setting an entry again makes it the newest. */
  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#maxEntries) return;
    for (const [oldest, removed] of this.#entries) {
      this.#entries.delete(oldest);
      this.#onRemoved?.(removed);
      return;
    }
  }

  /** Returns whether there was an entry. */
  delete(key: K): boolean {
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  /** Returns the keys, oldest first. */
  keys(): IterableIterator<K> {
    return this.#entries.keys();
  }
}
