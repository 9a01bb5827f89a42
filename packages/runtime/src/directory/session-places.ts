import { RuntimeError } from '../errors.ts';

interface SessionPlacesOptions {
  /** How many sessions may be open at once. */
  max: number;
  /** Ids of the open sessions that are stored. */
  stored: () => Promise<string[]>;
}

/** Limits the number of open sessions; those that this server is making count, too. */
export class SessionPlaces {
  readonly #options: SessionPlacesOptions;
  /** Sessions that are being made; they may be stored already. */
  readonly #making = new Set<string>();
  /**
   * One set per caller that waits for the store: the ids of sessions made before and meanwhile, which the store's answer
   * may lack.
   */
  readonly #counts = new Set<Set<string>>();

  constructor(options: SessionPlacesOptions) {
    this.#options = options;
  }

  /** Makes a session if there is a place for it; a failure frees the place. Throws `TOO_MANY_SESSIONS`. */
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
      throw new RuntimeError(
        'TOO_MANY_SESSIONS',
        `${size} sessions are open already. Close one that you do not need.`,
      );
    }
    this.#making.add(sessionId);
    for (const other of this.#counts) other.add(sessionId);
  }
}
