import { backoff } from './backoff.ts';

/** Does something again a while after it has failed: each time later, until it works. */
export class Later {
  readonly #step: () => void;
  #attempt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(step: () => void) {
    this.#step = step;
  }

  /** Does it later, once, however often this is asked for until then. */
  schedule(): void {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        this.#step();
      },
      backoff(this.#attempt++, Math.random()),
    );
  }

  /** It is being done now, or need not be done any more. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** It has worked: the next time that it fails is the first again. */
  worked(): void {
    this.cancel();
    this.#attempt = 0;
  }
}
