/** A gate with sessions inside. From time to time, the gate closes until all sessions have left. */
export class Gate {
  #inside = 0;
  #closed: PromiseWithResolvers<void> | undefined;
  #emptied: PromiseWithResolvers<void> | undefined;

  /** Runs `act` inside the gate. If the gate is closed, waits until it opens. */
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

  /** Closes the gate, runs `act` when all sessions have left, and opens the gate again. */
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
