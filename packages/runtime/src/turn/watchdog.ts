interface WatchdogOptions {
  /** A run that has been silent for this long gets a heartbeat, in ms; 0: never. */
  heartbeatMs: number;
  /** A run whose agent has been silent for this long is ended, in ms; 0: never. */
  idleLimitMs: number;
  onHeartbeat: () => void;
  onIdle: () => void;
  /** While this function returns true, the agent may be silent, because the turn waits for a user. */
  excused: () => boolean;
}

/** Watches one run for silence. */
export class Watchdog {
  readonly #options: WatchdogOptions;
  readonly #timers = new Set<NodeJS.Timeout>();
  #lastActivityAt = performance.now();

  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.#watch(options.heartbeatMs, options.onHeartbeat);
    this.#watch(options.idleLimitMs, () => this.#silent());
  }

  /**
   * Records that the agent has reported something. Stores only the time, because this method is called for every delta.
   */
  recordActivity(): void {
    this.#lastActivityAt = performance.now();
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  /** Calls `onSilence` whenever the run has been silent for `silenceMs`. */
  #watch(silenceMs: number, onSilence: () => void): void {
    if (silenceMs === 0) return;
    let last = this.#lastActivityAt;
    const look = (): void => {
      this.#timers.delete(timer);
      last = Math.max(last, this.#lastActivityAt);
      const left = last + silenceMs - performance.now();
      if (left <= 0) {
        last = performance.now();
        onSilence();
      }
      timer = this.#later(look, left > 0 ? left : silenceMs);
    };
    let timer = this.#later(look, silenceMs);
  }

  #later(look: () => void, ms: number): NodeJS.Timeout {
    const timer = setTimeout(look, Math.ceil(ms)).unref();
    this.#timers.add(timer);
    return timer;
  }

  #silent(): void {
    if (!this.#options.excused()) this.#options.onIdle();
  }
}
