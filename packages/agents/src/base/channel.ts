import type { Unsubscribe } from '../provider.ts';

/** Who listens for one kind of thing. A callback that throws hurts neither the others nor the speaker. */
export class Channel<T> {
  readonly #listeners = new Set<{ callback: (value: T) => void }>();

  get size(): number {
    return this.#listeners.size;
  }

  /** The same callback added twice is called twice; each call of a result takes away its own. */
  add(callback: (value: T) => void): Unsubscribe {
    const listener = { callback };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  send(value: T): void {
    this.audience()(value);
  }

  /** A way to speak to those who listen now: who comes later is not among them, who leaves is gone. */
  audience(): (value: T) => void {
    const present = [...this.#listeners];
    return (value) => {
      for (const listener of present) {
        if (this.#listeners.has(listener)) callSafely(listener.callback, value);
      }
    };
  }
}

function callSafely<T>(callback: (value: T) => void, value: T): void {
  try {
    callback(value);
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}
