/** Listeners of one kind of news. */
export class Emitter<T> {
  readonly #listeners = new Set<(value: T) => void>();

  /** Gives the function that ends it. */
  on(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(value: T): void {
    for (const listener of this.#listeners) listener(value);
  }
}
