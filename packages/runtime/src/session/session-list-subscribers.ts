import type { SessionSummary } from '@liminal/protocol';
import type { SessionsChange } from '../api.ts';
import type { Session } from './session.ts';

/** The subscribers of the session list; changes in one tick are sent together. */
export class SessionListSubscribers {
  readonly #subscribers = new Set<(change: SessionsChange) => void>();
  readonly #changed = new Set<Session>();
  /** The ids of all sessions that subscribers may have in their lists. */
  readonly #shown = new Set<string>();

  add(subscriber: (change: SessionsChange) => void): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  has(subscriber: (change: SessionsChange) => void): boolean {
    return this.#subscribers.has(subscriber);
  }

  get shown(): string[] {
    return [...this.#shown];
  }

  changed(session: Session): void {
    if (this.#changed.size === 0) queueMicrotask(() => this.#publishChanged());
    this.#changed.add(session);
  }

  publish(sessions: SessionSummary[], removed: string[] = []): void {
    for (const id of removed) this.#shown.delete(id);
    for (const subscriber of this.#subscribers) this.publishTo(subscriber, { sessions, removed });
  }

  publishTo(subscriber: (change: SessionsChange) => void, change: SessionsChange): void {
    for (const { sessionId } of change.sessions) this.#shown.add(sessionId);
    if (this.#subscribers.has(subscriber)) subscriber(change);
  }

  clear(): void {
    this.#subscribers.clear();
  }

  #publishChanged(): void {
    const sessions = [...this.#changed].map((session) => session.summary);
    this.#changed.clear();
    this.publish(sessions);
  }
}
