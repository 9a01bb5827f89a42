interface Limits {
  /** The most tasks of one owner that run at the same time. */
  each: number;
  /** The most tasks of all owners that run at the same time. */
  total: number;
}

interface Waiting {
  start: () => void;
  signal: AbortSignal | undefined;
  leave: () => void;
}

/**
 * Limits concurrent tasks, and divides the slots among owners (sessions). An owner without a running task gets any free
 * slot. An owner that already has a running task gets another slot only while fewer than half of all slots are taken,
 * so that an owner with many tasks, or with calls that wait for a person, leaves slots for other owners.
 */
export class FairSemaphore {
  readonly #limits: Limits;
  readonly #running = new Map<object, number>();
  /** Waiting tasks by owner; the next owner is first. */
  readonly #waiting = new Map<object, Waiting[]>();
  #total = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /**
   * Runs `start` when a slot is free. If the signal aborts before `start` is called, rejects with the signal's reason.
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

  /** Waits for a slot, and resolves once this owner has taken the slot. */
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
      // Move this owner to the end: the other owners are next.
      this.#waiting.delete(owner);
      if (others.length > 0) this.#waiting.set(owner, others);
      next.signal?.removeEventListener('abort', next.leave);
      this.#take(owner);
      next.start();
    }
  }
}
