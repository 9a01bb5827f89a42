import type { SessionSummary } from '@liminal/protocol';
import type { SessionsChange } from '../api.ts';
import type { Session } from './session.ts';

/** The subscribers of the session list; changes in one tick are sent together. */
export class SessionWatchers {
  readonly #listeners = new Set<(change: SessionsChange) => void>();
  readonly #changed = new Set<Session>();
  /** The ids of all sessions that subscribers may be showing. */
  readonly #shown = new Set<string>();

  add(listener: (change: SessionsChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  has(listener: (change: SessionsChange) => void): boolean {
    return this.#listeners.has(listener);
  }

  get shown(): string[] {
    return [...this.#shown];
  }

  changed(session: Session): void {
    if (this.#changed.size === 0) queueMicrotask(() => this.#tell());
    this.#changed.add(session);
  }

  tell(sessions: SessionSummary[], removed: string[] = []): void {
    for (const id of removed) this.#shown.delete(id);
    for (const listener of this.#listeners) this.tellOne(listener, { sessions, removed });
  }

  tellOne(listener: (change: SessionsChange) => void, change: SessionsChange): void {
    for (const { sessionId } of change.sessions) this.#shown.add(sessionId);
    if (this.#listeners.has(listener)) listener(change);
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
