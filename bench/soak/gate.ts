/** A gate that sessions enter and leave, and that is closed now and then until all have left. */
export class Gate {
  #inside = 0;
  #closed: PromiseWithResolvers<void> | undefined;
  #emptied: PromiseWithResolvers<void> | undefined;

  /** Runs `act` inside; waits while the gate is closed. */
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

  /** Closes the gate, and runs `act` when all have left. */
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
