/** Wakes one waiting caller. If no caller is waiting when the signal is set, the next caller does not wait. */
export class Signal {
  #isSet = false;
  #wake: () => void = () => {};

  notify(): void {
    this.#isSet = true;
    this.#wake();
  }

  async wait(): Promise<void> {
    if (!this.#isSet) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
    this.#isSet = false;
  }
}
