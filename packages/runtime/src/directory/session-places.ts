import { errors } from '../errors.ts';

interface SessionPlacesOptions {
  /** How many sessions may be open at the same time. */
  max: number;
  /** Ids of the open sessions that are stored. */
  stored: () => Promise<string[]>;
}

/** Limits the number of open sessions, including sessions that this server is creating. */
export class SessionPlaces {
  readonly #options: SessionPlacesOptions;
  /** Sessions that are being created; they may already be stored. */
  readonly #making = new Set<string>();
  /**
   * One set for each caller that waits for the store. A set contains the ids of sessions that were created before or
   * during the wait, because the store's answer may lack them.
   */
  readonly #counts = new Set<Set<string>>();

  constructor(options: SessionPlacesOptions) {
    this.#options = options;
  }

  /** Creates a session if there is room; a failure frees the room. Throws `TOO_MANY_SESSIONS`. */
  async fill<T>(sessionId: string, make: () => Promise<T>): Promise<T> {
    await this.#take(sessionId);
    try {
      return await make();
    } catch (error) {
      for (const count of this.#counts) count.delete(sessionId);
      throw error;
    } finally {
      this.#making.delete(sessionId);
    }
  }

  async #take(sessionId: string): Promise<void> {
    const count = new Set(this.#making);
    this.#counts.add(count);
    const stored = await this.#options.stored().finally(() => this.#counts.delete(count));
    const { size } = count.union(new Set(stored));
    if (size >= this.#options.max) {
      throw errors.TOO_MANY_SESSIONS.open(size);
    }
    this.#making.add(sessionId);
    for (const other of this.#counts) other.add(sessionId);
  }
}
