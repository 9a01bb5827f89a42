/** Of one agent, whose sessions are being begun. */
const maxKept = 1_000;

/** What an agent says of sessions whose ids it has not told yet. It is kept only while a session is being begun. */
export class EarlyUpdates {
  #kept: { sessionId: unknown; update: unknown }[] = [];
  #expected = 0;

  /** Keeps what comes while `begin` is at work. */
  async during<T>(begin: () => Promise<T>): Promise<T> {
    this.#expected += 1;
    try {
      return await begin();
    } finally {
      this.#expected -= 1;
      if (this.#expected === 0) this.#kept = [];
    }
  }

  keep(sessionId: unknown, update: unknown): void {
    if (this.#expected > 0 && this.#kept.length < maxKept) this.#kept.push({ sessionId, update });
  }

  /** What was said of this session. */
  take(sessionId: string): unknown[] {
    const taken = this.#kept.filter((one) => one.sessionId === sessionId);
    this.#kept = this.#kept.filter((one) => one.sessionId !== sessionId);
    return taken.map(({ update }) => update);
  }
}
