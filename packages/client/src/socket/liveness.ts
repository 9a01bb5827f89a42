/** The silence after which the server gets a ping, and the time in which it must answer, in ms. */
const pingAfter = 20_000;
const pongTimeout = 8_000;

interface LivenessActions {
  ping(): void;
  /** Called if a ping gets no answer: the connection is dead. */
  onDead(): void;
}

/**
 * Notices a connection that looks open but is dead (a laptop that slept, a network that changed). A browser itself
 * reports a dead connection only after minutes.
 */
export class Liveness {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isPinged = false;
  readonly #actions: LivenessActions;

  constructor(actions: LivenessActions) {
    this.#actions = actions;
  }

  /** Must be called for each received message, because a message shows that the connection is alive. */
  onMessage(): void {
    this.stop();
    this.#timer = setTimeout(() => this.check(), pingAfter);
  }

  /** Sends a ping at once, unless the answer to an earlier ping is still due. */
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
