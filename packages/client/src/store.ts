import { Emitter } from './emitter.ts';

/** A value to read and follow, in the shape that React's useSyncExternalStore takes. */
export interface Store<T> {
  /** `listener` is called at most once per frame after a change. Returns a function that removes it. */
  subscribe: (listener: () => void) => () => void;
  /** The newest value; the same object until it changes. */
  getSnapshot: () => T;
}

/** A store that its owner writes. */
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

/** Interval in a hidden page: often enough for its title and icon (ms). */
const hiddenPace = 200;

/**
 * Makes `flush` run at most once per frame, however often it is requested: text arrives thirty times a second and
 * more. Outside browsers it runs as soon as the present work is done.
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
  else setTimeout(run, hiddenPace);
}
