/** A set of listeners for one kind of event. */
export class Emitter<T> {
  readonly #listeners = new Set<(value: T) => void>();

  /** Adds a listener. Returns a function that removes the listener. */
  on(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(value: T): void {
    for (const listener of this.#listeners) listener(value);
  }
}
