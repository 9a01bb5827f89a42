/**
 * A semaphore: limits how many tasks run at the same time. Clients take turns, however many tasks each has; one
 * client's tasks start in the order of their calls.
 */
export class FewAtOnce {
  /** Waiting tasks by client; the client whose turn is next is first. */
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

  /** Lets another task run while a running task waits for something; the task then queues again. */
  async pause<T>(wait: () => Promise<T>): Promise<T> {
    this.leave();
    try {
      return await wait();
    } finally {
      await this.enter();
    }
  }

  /** Resolves when a task of this client may start. The task must call `leave` when it ends. */
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
