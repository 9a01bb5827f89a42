/**
 * Runs at most so many pieces of work at the same time. Clients take turns, however much each of them asks for; the work
 * of one client begins in the order in which it comes.
 */
export class FewAtOnce {
  /** By client, the one whose turn is next first. */
  readonly #waiting = new Map<string | undefined, (() => void)[]>();
  #free: number;

  constructor(most: number) {
    this.#free = most;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.enter();
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  /** Lets others run while a running piece of work waits for something; it then queues again. */
  async pause<T>(wait: () => Promise<T>): Promise<T> {
    this.leave();
    try {
      return await wait();
    } finally {
      await this.enter();
    }
  }

  /** Resolves when work of this client may begin, until `leave` is called. */
  async enter(client?: string): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(client);
    if (waiting) waiting.push(resolve);
    else this.#waiting.set(client, [resolve]);
    await promise;
  }

  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    const [client, waiting] = next;
    const begin = waiting.shift();
    this.#waiting.delete(client);
    if (waiting.length > 0) this.#waiting.set(client, waiting);
    begin?.();
  }
}
