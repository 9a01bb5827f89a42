/** Lets tests wait for what may have happened already. */
export class Waiting {
  readonly #checks = new Set<() => void>();

  /** Something has happened. */
  notify(): void {
    for (const check of this.#checks) check();
  }

  /** What `look` finds, now or as soon as it finds something. */
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
