interface WatchdogOptions {
  /** A run that has been silent for so many ms gets a heartbeat; 0 gives none. */
  heartbeatMs: number;
  /** A run that its agent has said nothing in for so many ms is ended; 0 never. */
  idleLimitMs: number;
  onHeartbeat: () => void;
  onIdle: () => void;
  /** While true, silence is right: a person is being waited for. */
  excused: () => boolean;
}

/** Watches one run for silence. */
export class Watchdog {
  readonly #options: WatchdogOptions;
  #heartbeat: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: WatchdogOptions) {
    this.#options = options;
    const { heartbeatMs } = options;
    if (heartbeatMs > 0) this.#heartbeat = setInterval(options.onHeartbeat, heartbeatMs).unref();
    this.heard();
  }

  /** The agent has said something. */
  heard(): void {
    this.#heartbeat?.refresh();
    if (this.#options.idleLimitMs === 0) return;
    if (this.#idle) this.#idle.refresh();
    else this.#idle = setTimeout(() => this.#silent(), this.#options.idleLimitMs).unref();
  }

  stop(): void {
    clearInterval(this.#heartbeat);
    clearTimeout(this.#idle);
  }

  #silent(): void {
    if (this.#options.excused()) this.#idle?.refresh();
    else this.#options.onIdle();
  }
}
