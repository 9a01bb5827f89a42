import { backoff } from './backoff.ts';

/** Retries an action after each failure until the action succeeds. Each wait is longer than the wait before. */
export class RetryTimer {
  readonly #action: () => void;
  #attempt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(action: () => void) {
    this.#action = action;
  }

  /** Schedules the next attempt. Until that attempt begins, further calls have no effect. */
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

  /** After a success, resets the wait to its first length. */
  reset(): void {
    this.cancel();
    this.#attempt = 0;
  }
}
