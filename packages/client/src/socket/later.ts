import { backoff } from './backoff.ts';

/** Retries an action after failures, each time after a longer wait, until it succeeds. */
export class Later {
  readonly #step: () => void;
  #attempt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(step: () => void) {
    this.#step = step;
  }

  /** Schedules the next attempt; further calls until then have no effect. */
  schedule(): void {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        this.#step();
      },
      backoff(this.#attempt++, Math.random()),
    );
  }

  /** Cancels the scheduled attempt, because the action runs now or is no longer needed. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Resets the wait after a success. */
  worked(): void {
    this.cancel();
    this.#attempt = 0;
  }
}
