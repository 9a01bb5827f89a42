import type { Session } from './session.ts';

/** So many closed sessions stay as they are, for whoever looks at one again. */
const MAX_KEPT = 20;

interface ClosedSessionsOptions {
  get: (sessionId: string) => Promise<Session>;
  /** Takes it out of memory; the store has all of it. */
  forget: (session: Session) => void;
}

/** Which sessions are used, and which are closed and used by nobody: of those only the newest stay in memory. */
export class ClosedSessions {
  readonly #options: ClosedSessionsOptions;
  /** How many use a session, or are about to. */
  readonly #users = new Map<string, number>();
  readonly #closed = new Set<Session>();

  constructor(options: ClosedSessionsOptions) {
    this.#options = options;
  }

  /** Does something with a session, which stays in memory meanwhile. Throws what `get` throws. */
  async use<T>(sessionId: string, step: (session: Session) => T | Promise<T>): Promise<T> {
    const { session, done } = await this.hold(sessionId);
    try {
      return await step(session);
    } finally {
      done();
    }
  }

  /** Keeps a session in memory until it is done with. Throws what `get` throws. */
  async hold(sessionId: string): Promise<{ session: Session; done: () => void }> {
    this.#users.set(sessionId, (this.#users.get(sessionId) ?? 0) + 1);
    try {
      const session = await this.#options.get(sessionId);
      const done = (): void => {
        this.#leave(sessionId);
        this.note(session);
      };
      return { session, done };
    } catch (error) {
      this.#leave(sessionId);
      throw error;
    }
  }

  /** Looks at a session that has changed. */
  note(session: Session): void {
    this.#closed.delete(session);
    if (!this.#isUnused(session)) return;
    this.#closed.add(session);
    const [oldest] = this.#closed;
    if (oldest === undefined || this.#closed.size <= MAX_KEPT) return;
    this.#closed.delete(oldest);
    void this.#letGo(oldest);
  }

  #leave(sessionId: string): void {
    const left = (this.#users.get(sessionId) ?? 1) - 1;
    if (left > 0) this.#users.set(sessionId, left);
    else this.#users.delete(sessionId);
  }

  async #letGo(session: Session): Promise<void> {
    await session.settled();
    // Whoever has begun to use it meanwhile has it looked at again.
    if (this.#isUnused(session)) this.#options.forget(session);
  }

  /** Whether it is closed, nothing goes on in it, and nobody uses it. */
  #isUnused({ sessionId, record, isInUse }: Session): boolean {
    const isClosed = !record.active && record.queue.length === 0;
    return isClosed && !isInUse && !this.#users.has(sessionId);
  }
}
