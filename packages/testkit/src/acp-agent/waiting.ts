/** Lets tests wait for events that may already have happened. */
export class Waiting {
  readonly #checks = new Set<() => void>();

  /** Calls `look` again in each call of `until` that is waiting. */
  notify(): void {
    for (const check of this.#checks) check();
  }

  /** Resolves with the result of `look` as soon as this result is defined, which can be at once. */
  until<T>(look: () => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      const check = (): void => {
        const found = look();
        if (found === undefined) return;
        this.#checks.delete(check);
        resolve(found);
      };
      this.#checks.add(check);
      check();
    });
  }
}
