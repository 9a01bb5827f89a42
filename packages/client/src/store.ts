import { Emitter } from './emitter.ts';
import { perFrame } from './next-frame.ts';

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
