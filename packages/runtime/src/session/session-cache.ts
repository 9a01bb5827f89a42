import type { Session } from './session.ts';

/** How many closed sessions stay in memory for subscribers that return. */
const maxClosed = 20;

interface SessionCacheOptions {
  get: (sessionId: string) => Promise<Session>;
  /** Removes the session from memory. The store has the whole session. */
  forget: (session: Session) => void;
}

/** Counts the users of each session, and keeps only the newest unused closed sessions in memory. */
export class SessionCache {
  readonly #options: SessionCacheOptions;
  /** The number of users by session. A user is counted even before the session is in memory. */
  readonly #users = new Map<string, number>();
  readonly #closed = new Set<Session>();

  constructor(options: SessionCacheOptions) {
    this.#options = options;
  }

  /** Runs a step with a session. The session stays in memory until the step ends. Throws the errors of `get`. */
  async use<T>(sessionId: string, step: (session: Session) => T | Promise<T>): Promise<T> {
    const { session, done } = await this.hold(sessionId);
    try {
      return await step(session);
    } finally {
      done();
    }
  }

  /** Keeps a session in memory until `done` is called. Throws the errors of `get`. */
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

  /** Checks whether a changed session can be removed from memory. */
  note(session: Session): void {
    this.#closed.delete(session);
    if (!this.#isUnused(session)) return;
    this.#closed.add(session);
    const [oldest] = this.#closed;
    if (oldest === undefined || this.#closed.size <= maxClosed) return;
    this.#closed.delete(oldest);
    void this.#evict(oldest);
  }

  #leave(sessionId: string): void {
    const left = (this.#users.get(sessionId) ?? 1) - 1;
    if (left > 0) this.#users.set(sessionId, left);
    else this.#users.delete(sessionId);
  }

  async #evict(session: Session): Promise<void> {
    await session.settled();
    // If the session has a new user, it is checked again when that user leaves.
    if (this.#isUnused(session)) this.#options.forget(session);
  }

  /** Returns whether a session is closed, idle and without users. */
  #isUnused({ sessionId, record, isInUse }: Session): boolean {
    const isClosed = !record.active && record.queue.length === 0;
    return isClosed && !isInUse && !this.#users.has(sessionId);
  }
}
