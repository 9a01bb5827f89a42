/** Silence (ms) after which the other side is asked for a sign of life, and how long it has for it. */
const silence = 20_000;
const grace = 8_000;

interface Actions {
  ask(): void;
  /** Nothing came back: the connection is only half there. */
  giveUp(): void;
}

/**
 * Notices a connection that looks open and carries nothing (a laptop that slept, a network that changed), which a
 * browser itself reports only after minutes.
 */
export class Liveness {
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #actions: Actions;

  constructor(actions: Actions) {
    this.#actions = actions;
  }

  /** Something came in: alive. */
  heard(): void {
    this.stop();
    this.#timer = setTimeout(() => this.check(), silence);
  }

  /** Asks at once: there is reason to doubt. */
  check(): void {
    this.stop();
    this.#timer = setTimeout(() => this.#actions.giveUp(), grace);
    this.#actions.ask();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
