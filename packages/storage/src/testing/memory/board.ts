import type { Board, BoardListener, Unsubscribe } from '../../coordination.ts';

interface Posting {
  text: string;
  /** When the posting expires, ms since the epoch. */
  until: number;
}

export class MemoryBoard implements Board {
  readonly #now: () => number;
  readonly #postings = new Map<string, Posting>();
  readonly #listeners = new Set<{ prefix: string; listener: BoardListener }>();

  /** @param now - The clock, ms since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  async post(name: string, text: string, ttlMs: number): Promise<void> {
    this.#postings.set(name, { text, until: this.#now() + ttlMs });
    for (const { prefix, listener } of this.#listeners) {
      if (name.startsWith(prefix)) listener.onPost(name, text);
    }
  }

  async read(names: readonly string[]): Promise<Map<string, string>> {
    return new Map(
      names.flatMap((name) => {
        const posting = this.#postings.get(name);
        return posting && posting.until > this.#now() ? [[name, posting.text] as const] : [];
      }),
    );
  }

  async watch(prefix: string, listener: BoardListener): Promise<Unsubscribe> {
    const registration = { prefix, listener };
    this.#listeners.add(registration);
    return async () => void this.#listeners.delete(registration);
  }
}
