/** Lets tests wait for events that may already have happened. */
export class Waiting {
  readonly #checks = new Set<() => void>();

  /** Makes all waiting calls of `until` look again. */
  notify(): void {
    for (const check of this.#checks) check();
  }

  /** Resolves with the result of `look` as soon as that is defined, perhaps at once. */
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
