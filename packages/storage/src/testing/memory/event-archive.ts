import type { StreamEvent } from '@liminal/protocol';
import type { EventArchive } from '../../event-archive.ts';

/** Copies its inputs and outputs, so that a caller's later changes do not change the archive. */
export class MemoryEventArchive implements EventArchive {
  /** The events by run, then by `seq`. */
  readonly #runs = new Map<string, Map<number, StreamEvent>>();
  readonly #deleted: ReadonlySet<string>;

  /** @param deleted - Ids of deleted sessions. */
  constructor(deleted: ReadonlySet<string>) {
    this.#deleted = deleted;
  }

  async store(runId: string, events: readonly StreamEvent[]): Promise<void> {
    const stored = this.#runs.get(runId) ?? new Map<number, StreamEvent>();
    for (const event of events) {
      if (!this.#deleted.has(event.sessionId)) stored.set(event.seq, structuredClone(event));
    }
    if (stored.size > 0) this.#runs.set(runId, stored);
  }

  async read(runId: string): Promise<StreamEvent[]> {
    const events = [...(this.#runs.get(runId)?.values() ?? [])];
    return structuredClone(events.toSorted((a, b) => a.seq - b.seq));
  }

  deleteSession(sessionId: string): void {
    for (const [runId, events] of this.#runs) {
      if (events.values().some((event) => event.sessionId === sessionId)) this.#runs.delete(runId);
    }
  }
}
