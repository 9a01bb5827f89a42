import { Emitter } from './emitter.ts';

/** A value that can be read and subscribed to, in the form that React's useSyncExternalStore needs. */
export interface Store<T> {
  /**
   * Adds a listener, which is called after a change, at most once per frame. Returns a function that removes the
   * listener.
   */
  subscribe: (listener: () => void) => () => void;
  /** Returns the newest value: the same object until the value changes. */
  getSnapshot: () => T;
}

/** A store whose owner sets the value. */
export class Cell<T> implements Store<T> {
  #value: T;
  readonly #changed = new Emitter<void>();
  readonly #notify = perFrame(() => this.#changed.emit());

  constructor(value: T) {
    this.#value = value;
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#changed.on(listener);

  readonly getSnapshot = (): T => this.#value;

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    this.#notify();
  }

  update(change: (value: T) => T): void {
    this.set(change(this.#value));
  }
}

/** The interval of updates in a hidden page, in ms: often enough for the page's title and icon. */
const hiddenInterval = 200;

/**
 * Returns a function that requests a run of `flush`. `flush` runs at most once per frame, even if it is requested more
 * often, because text arrives thirty times a second or more often. Outside of browsers, `flush` runs as soon as the
 * current work is done.
 */
function perFrame(flush: () => void): () => void {
  let scheduled = false;
  const run = () => {
    scheduled = false;
    flush();
  };
  return () => {
    if (scheduled) return;
    scheduled = true;
    schedule(run);
  };
}

function schedule(run: () => void): void {
  if (typeof document === 'undefined') setTimeout(run, 0);
  else if (document.visibilityState === 'visible') requestAnimationFrame(run);
  else setTimeout(run, hiddenInterval);
}
