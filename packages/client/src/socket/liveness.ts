/** The silence after which the server is asked for a sign of life, and the time that it has to answer, ms. */
const silence = 20_000;
const grace = 8_000;

interface Actions {
  ask(): void;
  /** Called without an answer: the connection is dead. */
  giveUp(): void;
}

/**
 * Notices a connection that looks open but carries nothing (a laptop that slept, a network that changed), which a
 * browser itself reports only after minutes.
 */
export class Liveness {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isAsked = false;
  readonly #actions: Actions;

  constructor(actions: Actions) {
    this.#actions = actions;
  }

  /** Called for each received message: the connection is alive. */
  heard(): void {
    this.stop();
    this.#timer = setTimeout(() => this.check(), silence);
  }

  /** Asks for a sign of life at once, unless an answer is already due. */
  check(): void {
    if (this.#isAsked) return;
    this.stop();
    this.#isAsked = true;
    this.#timer = setTimeout(() => this.#actions.giveUp(), grace);
    this.#actions.ask();
  }

  stop(): void {
    this.#isAsked = false;
    clearTimeout(this.#timer);
  }
}
