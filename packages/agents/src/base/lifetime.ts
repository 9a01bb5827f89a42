/**
 * Rejects pending work when the process or session that does the work ends. A `Promise.race` of each work with one end
 * promise would keep all results in memory until the end.
 */
export class Lifetime {
  #endReason: Error | undefined;
  readonly #waiting = new Set<(reason: Error) => void>();

  /** Rejects all pending and all later work with the reason. */
  end(reason: Error): void {
    if (this.#endReason !== undefined) return;
    this.#endReason = reason;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const reject of waiting) reject(reason);
  }

  /** Resolves with the result of `work`. Rejects with the reason given to `end` if `end` is called first. */
  within<T>(work: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    if (this.#endReason !== undefined) reject(this.#endReason);
    else this.#waiting.add(reject);
    work.then(resolve, reject).finally(() => this.#waiting.delete(reject));
    return promise;
  }

  /** Like `within`, with a time limit (ms); also rejects with the signal's reason. */
  async withinLimit<T>(
    work: Promise<T>,
    limitMs: number,
    { tooLong, signal }: { tooLong: string; signal?: AbortSignal | undefined },
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const timer = setTimeout(() => reject(new Error(tooLong)), limitMs);
    const onAbort = (): void => reject(signal?.reason);
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    this.within(work).then(resolve, reject);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }
}
