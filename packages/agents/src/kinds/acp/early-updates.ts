import { BoundedList } from '../../base/bounded-list.ts';
import { isRecord } from './translate/fields.ts';

/** Updates of sessions whose ids are not known yet; kept only until `session/new` is answered. */
export class EarlyUpdates {
  readonly #updates = new BoundedList();
  /** Receives a kept update that belongs to no new session. */
  readonly #pass: (sessionId: unknown, update: unknown) => void;
  #expected = 0;

  constructor(pass: (sessionId: unknown, update: unknown) => void) {
    this.#pass = pass;
  }

  /** Keeps updates while `begin` runs. */
  async during<T>(begin: () => Promise<T>): Promise<T> {
    this.#expected += 1;
    try {
      return await begin();
    } finally {
      this.#expected -= 1;
      if (this.#expected === 0) {
        for (const one of this.#updates.take()) {
          if (isRecord(one) && 'update' in one) this.#pass(one['sessionId'], one['update']);
        }
      }
    }
  }

  /** Keeps an update while a session is being begun; returns whether the update was kept. */
  keep(sessionId: unknown, update: unknown): boolean {
    if (this.#expected > 0) this.#updates.add({ sessionId, update });
    return this.#expected > 0;
  }

  /** Removes and returns the updates of this session. */
  take(sessionId: string): unknown[] {
    const updates: unknown[] = [];
    for (const one of this.#updates.take()) {
      if (isRecord(one) && one['sessionId'] === sessionId) updates.push(one['update']);
      else if (isRecord(one) && 'update' in one) this.#updates.add(one);
      // `one` is the count of dropped updates. Some dropped updates may have been this session's, so return the count,
      // too.
      else updates.push(one);
    }
    return updates;
  }
}
