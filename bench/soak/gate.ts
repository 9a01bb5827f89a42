/** Where people go in and out, and which is closed now and then until all are out. */
export class Gate {
  #inside = 0;
  #closed: PromiseWithResolvers<void> | undefined;
  #emptied: PromiseWithResolvers<void> | undefined;

  /** Waits while it is closed. */
  async enter<T>(act: () => Promise<T>): Promise<T> {
    while (this.#closed !== undefined) await this.#closed.promise;
    this.#inside += 1;
    try {
      return await act();
    } finally {
      this.#inside -= 1;
      if (this.#inside === 0) this.#emptied?.resolve();
    }
  }

  /** Closes it, and does something when nobody is inside. */
  async whenEmpty<T>(act: () => Promise<T>): Promise<T> {
    const [closed, emptied] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    this.#closed = closed;
    this.#emptied = emptied;
    if (this.#inside > 0) await emptied.promise;
    try {
      return await act();
    } finally {
      this.#closed = undefined;
      closed.resolve();
    }
  }
}
