/** The requests that a scripted server has received. A test can read them and wait for them. */
export class RecordedRequests<Request> {
  /** Every request so far, in the order of arrival. */
  readonly list: Request[] = [];
  readonly #waiting = new Set<(request: Request) => void>();

  add(request: Request): void {
    this.list.push(request);
    for (const notify of this.#waiting) notify(request);
  }

  /** Resolves with the first request, past or future, that `matches`. */
  first(matches: (request: Request) => boolean): Promise<Request> {
    const seen = this.list.find(matches);
    if (seen !== undefined) return Promise.resolve(seen);
    return new Promise((resolve) => {
      const notify = (request: Request): void => {
        if (!matches(request)) return;
        this.#waiting.delete(notify);
        resolve(request);
      };
      this.#waiting.add(notify);
    });
  }
}
