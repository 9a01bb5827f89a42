import type { ServerMessage, SessionSummary } from '@liminal/protocol';
import type { Runtime, SessionsChange } from '@liminal/runtime';

/**
 * Sends the list of sessions to one client. While the client is slow, only the last state of each changed session is
 * kept for the client.
 */
export class SessionListFeed {
  readonly #changed = new Map<string, SessionSummary>();
  readonly #removed = new Set<string>();
  readonly #send: (message: ServerMessage) => void;
  readonly #isFull: () => boolean;
  readonly #stop: () => void;
  #isNew = true;

  constructor(
    runtime: Pick<Runtime, 'subscribeToSessionList'>,
    isFull: () => boolean,
    send: (message: ServerMessage) => void,
  ) {
    this.#isFull = isFull;
    this.#send = send;
    this.#stop = runtime.subscribeToSessionList((change) => this.#take(change));
  }

  drained(): void {
    if (this.#isFull() || this.#changed.size + this.#removed.size === 0) return;
    this.#flush();
  }

  close(): void {
    this.#stop();
  }

  #take({ sessions, removed }: SessionsChange): void {
    for (const session of sessions) {
      this.#changed.set(session.sessionId, session);
      this.#removed.delete(session.sessionId);
    }
    for (const id of removed) {
      this.#changed.delete(id);
      this.#removed.add(id);
    }
    // The first message is sent even if there are no sessions, so that the client knows that the list is empty.
    if (!this.#isFull() || this.#isNew) this.#flush();
  }

  #flush(): void {
    this.#isNew = false;
    const sessions = [...this.#changed.values()];
    const removed = [...this.#removed];
    this.#changed.clear();
    this.#removed.clear();
    this.#send({ type: 'sessions:changed', sessions, ...(removed.length > 0 && { removed }) });
  }
}
