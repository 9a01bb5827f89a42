import { backoff } from './backoff.ts';

/** Retries an action after a failure until it succeeds; each wait is longer than the one before. */
export class RetryTimer {
  readonly #action: () => void;
  #attempt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(action: () => void) {
    this.#action = action;
  }

  /** Schedules the next attempt; until that attempt, further calls have no effect. */
  schedule(): void {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        this.#action();
      },
      backoff(this.#attempt++, Math.random()),
    );
  }

  /** Cancels the scheduled attempt, because the action runs now or is not needed any more. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Resets the wait to its first length, after a success. */
  reset(): void {
    this.cancel();
    this.#attempt = 0;
  }
}
