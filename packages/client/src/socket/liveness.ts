/** The silence after which a ping is sent, and the time in which the server must answer it, in ms. */
const pingAfter = 20_000;
const pongTimeout = 8_000;

interface LivenessActions {
  ping(): void;
  /** Called if there is no answer to a ping, because the connection is then dead. */
  onDead(): void;
}

/**
 * Notices a connection that looks open but is dead, for example because a laptop slept or the network changed. A
 * browser itself reports a dead connection only after minutes.
 */
export class Liveness {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isPinged = false;
  readonly #actions: LivenessActions;

  constructor(actions: LivenessActions) {
    this.#actions = actions;
  }

  /** Must be called for each message that is received, because each message proves that the connection is alive. */
  onMessage(): void {
    this.stop();
    this.#timer = setTimeout(() => this.check(), pingAfter);
  }

  /** Sends a ping at once, unless the answer to an earlier ping is still awaited. */
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
