import type { Unsubscribe } from '../provider.ts';

interface Listener<T> {
  callback: (value: T) => void;
  /** False once it has left: it then hears nothing more, not even what is being said just now. */
  listens: boolean;
}

/** Who listens for one kind of thing. A callback that throws hurts neither the others nor the speaker. */
export class Channel<T> {
  /** Replaced when somebody comes or leaves, never changed: speaking, which is frequent, copies nothing. */
  #listeners: readonly Listener<T>[] = [];

  get size(): number {
    return this.#listeners.length;
  }

  /** The same callback added twice is called twice; each call of a result takes away its own. */
  add(callback: (value: T) => void): Unsubscribe {
    const listener = { callback, listens: true };
    this.#listeners = [...this.#listeners, listener];
    return () => {
      listener.listens = false;
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  send(value: T): void {
    speak(this.#listeners, value);
  }

  /** A way to speak to those who listen now: who comes later is not among them, who leaves is gone. */
  audience(): (value: T) => void {
    const present = this.#listeners;
    return (value) => speak(present, value);
  }
}

function speak<T>(listeners: readonly Listener<T>[], value: T): void {
  for (const listener of listeners) {
    if (listener.listens) callSafely(listener.callback, value);
  }
}

function callSafely<T>(callback: (value: T) => void, value: T): void {
  try {
    callback(value);
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}
