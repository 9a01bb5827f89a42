interface Limits {
  /** How many run at the same time of one owner. */
  each: number;
  /** How many run at the same time of all owners. */
  total: number;
}

interface Waiting {
  start: () => void;
  signal: AbortSignal | undefined;
  leave: () => void;
}

/**
 * Bounds how much runs at the same time, and shares it between owners (sessions). An owner with nothing running gets
 * any free place. Owners with something running share the first half of the places: so one with much to run, or with
 * calls that wait for a person, leaves places for the others.
 */
export class FairLimit {
  readonly #limits: Limits;
  readonly #running = new Map<object, number>();
  /** The owner whose turn is next comes first. */
  readonly #waiting = new Map<object, Waiting[]>();
  #total = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /**
   * Runs `start` when there is a place for it. Rejects with the signal's reason if that aborts before: then `start` is
   * never called.
   * @param onWait - Called if `start` has to wait.
   */
  async run<T>(
    owner: object,
    start: () => Promise<T>,
    signal?: AbortSignal,
    onWait?: () => void,
  ): Promise<T> {
    signal?.throwIfAborted();
    if (this.#mayStart(owner) && !this.#waiting.has(owner)) this.#take(owner);
    else {
      onWait?.();
      await this.#turn(owner, signal);
    }
    try {
      return await start();
    } finally {
      this.#free(owner);
    }
  }

  #mayStart(owner: object): boolean {
    const { each, total } = this.#limits;
    const own = this.#running.get(owner) ?? 0;
    return own === 0 ? this.#total < total : own < each && this.#total < total / 2;
  }

  #take(owner: object): void {
    this.#total += 1;
    this.#running.set(owner, (this.#running.get(owner) ?? 0) + 1);
  }

  #free(owner: object): void {
    this.#total -= 1;
    const left = (this.#running.get(owner) ?? 0) - 1;
    if (left > 0) this.#running.set(owner, left);
    else this.#running.delete(owner);
    this.#startNext();
  }

  /** Resolves with a place taken. */
  #turn(owner: object, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = (): void => {
      const left = (this.#waiting.get(owner) ?? []).filter((one) => one !== waiting);
      if (left.length > 0) this.#waiting.set(owner, left);
      else this.#waiting.delete(owner);
      reject(signal?.reason);
    };
    const waiting = { start: resolve, signal, leave };
    this.#waiting.set(owner, [...(this.#waiting.get(owner) ?? []), waiting]);
    signal?.addEventListener('abort', leave, { once: true });
    return promise;
  }

  #startNext(): void {
    for (;;) {
      const found = this.#waiting.entries().find(([owner]) => this.#mayStart(owner));
      const [owner, [next, ...others] = []] = found ?? [];
      if (owner === undefined || next === undefined) return;
      // To the end: the other owners come first now.
      this.#waiting.delete(owner);
      if (others.length > 0) this.#waiting.set(owner, others);
      next.signal?.removeEventListener('abort', next.leave);
      this.#take(owner);
      next.start();
    }
  }
}
