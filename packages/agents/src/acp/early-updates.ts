import { BoundedList } from '../base/bounded-list.ts';
import { isRecord } from './translate/fields.ts';

/** Updates for sessions whose ids the agent has not told yet; kept only while a session is being begun. */
export class EarlyUpdates {
  readonly #kept = new BoundedList();
  #expected = 0;

  /** Keeps what comes while `begin` runs. */
  async during<T>(begin: () => Promise<T>): Promise<T> {
    this.#expected += 1;
    try {
      return await begin();
    } finally {
      this.#expected -= 1;
      if (this.#expected === 0) this.#kept.take();
    }
  }

  keep(sessionId: unknown, update: unknown): void {
    if (this.#expected > 0) this.#kept.add({ sessionId, update });
  }

  /** The updates for this session. */
  take(sessionId: string): unknown[] {
    const updates: unknown[] = [];
    for (const one of this.#kept.take()) {
      if (isRecord(one) && one['sessionId'] === sessionId) updates.push(one['update']);
      else if (isRecord(one) && 'update' in one) this.#kept.add(one);
      // The count of dropped updates: some may have been this session's.
      else updates.push(one);
    }
    return updates;
  }
}
