import type { SessionSummary } from '@liminal/protocol';
import type { SessionsChange } from '../api.ts';
import type { Session } from './session.ts';

/** The listeners of the list of sessions; changes in one tick are told together. */
export class SessionWatchers {
  readonly #listeners = new Set<(change: SessionsChange) => void>();
  readonly #changed = new Set<Session>();
  /** Ids of all sessions that listeners may show. */
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
