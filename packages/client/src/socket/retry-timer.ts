import { backoff } from './backoff.ts';

/** Retries an action after failures, each time after a longer wait, until it succeeds. */
export class RetryTimer {
  readonly #action: () => void;
  #attempt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(action: () => void) {
    this.#action = action;
  }

  /** Schedules the next attempt; further calls until then have no effect. */
  schedule(): void {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        this.#action();
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
  reset(): void {
    this.cancel();
    this.#attempt = 0;
  }
}
