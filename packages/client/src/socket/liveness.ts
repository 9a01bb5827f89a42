/** The silence after which the server is asked for a sign of life, and the time that it has to answer, ms. */
const pingAfter = 20_000;
const pongTimeout = 8_000;

interface LivenessActions {
  ping(): void;
  /** Called without an answer: the connection is dead. */
  onDead(): void;
}

/**
 * Notices a connection that looks open but carries nothing (a laptop that slept, a network that changed), which a
 * browser itself reports only after minutes.
 */
export class Liveness {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isPinged = false;
  readonly #actions: LivenessActions;

  constructor(actions: LivenessActions) {
    this.#actions = actions;
  }

  /** Called for each received message: the connection is alive. */
  onMessage(): void {
    this.stop();
    this.#timer = setTimeout(() => this.check(), pingAfter);
  }

  /** Asks for a sign of life at once, unless an answer is already due. */
  check(): void {
    if (this.#isPinged) return;
    this.stop();
    this.#isPinged = true;
    this.#timer = setTimeout(() => this.#actions.onDead(), pongTimeout);
    this.#actions.ping();
  }

  stop(): void {
    this.#isPinged = false;
    clearTimeout(this.#timer);
  }
}
