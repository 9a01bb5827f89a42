/** Lets tests wait for events that may already have happened. */
export class Waiting {
  readonly #checks = new Set<() => void>();

  /** Reports that something has happened. */
  notify(): void {
    for (const check of this.#checks) check();
  }

  /** The result of `look`, now or as soon as it is defined. */
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
