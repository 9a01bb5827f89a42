/**
 * A semaphore: limits how many tasks run at the same time. Each client gets its turn, however many tasks it has. The
 * tasks of one client start in the order of their calls.
 */
export class FairSemaphore {
  /** Waiting tasks by client; the client whose turn is next is first. */
  readonly #waiting = new Map<string | undefined, (() => void)[]>();
  #permits: number;

  constructor(permits: number) {
    this.#permits = permits;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.acquire();
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  /** Lets another task run while a running task waits for something; the task then queues again. */
  async pause<T>(wait: () => Promise<T>): Promise<T> {
    this.release();
    try {
      return await wait();
    } finally {
      await this.acquire();
    }
  }

  /** Resolves when a task of this client may start. The task must call `release` when it ends. */
  async acquire(client?: string): Promise<void> {
    if (this.#permits > 0) {
      this.#permits -= 1;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(client);
    if (waiting) waiting.push(resolve);
    else this.#waiting.set(client, [resolve]);
    await promise;
  }

  release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#permits += 1;
      return;
    }
    const [client, waiting] = next;
    const begin = waiting.shift();
    this.#waiting.delete(client);
    if (waiting.length > 0) this.#waiting.set(client, waiting);
    begin?.();
  }
}
