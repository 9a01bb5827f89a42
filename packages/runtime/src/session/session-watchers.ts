import type { SessionSummary } from '@liminal/protocol';
import type { SessionsChange } from '../api.ts';
import type { Session } from './session.ts';

/** The listeners of the list of sessions; changes in one tick are told together. */
export class SessionWatchers {
  readonly #listeners = new Set<(change: SessionsChange) => void>();
  readonly #changed = new Set<Session>();

  add(listener: (change: SessionsChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  has(listener: (change: SessionsChange) => void): boolean {
    return this.#listeners.has(listener);
  }

  changed(session: Session): void {
    if (this.#changed.size === 0) queueMicrotask(() => this.#tell());
    this.#changed.add(session);
  }

  tell(sessions: SessionSummary[]): void {
    for (const listener of this.#listeners) listener({ sessions, removed: [] });
  }

  clear(): void {
    this.#listeners.clear();
  }

  #tell(): void {
    const sessions = [...this.#changed].map((session) => session.summary);
    this.#changed.clear();
    this.tell(sessions);
  }
}
