import type { StatementSync } from 'node:sqlite';
import type { StreamEvent } from '@liminal/protocol';
import type { EventArchive } from '../event-archive.ts';
import { decodeEventParts, encodeEventParts } from '../log/event-parts.ts';
import { yieldToEventLoop } from '../yield-to-event-loop.ts';
import type { Database } from './database.ts';
import { DeletedSessions } from './deleted-sessions.ts';
import { keyOf } from './id-key.ts';

/** Archived events in parts of up to a megabyte. Each part is one row and one transaction. */
export class SqliteEventArchive implements EventArchive {
  readonly #database: Database;
  readonly #deleted: DeletedSessions;
  readonly #insert: StatementSync;
  readonly #read: StatementSync;
  readonly #deleteOfSession: StatementSync;

  constructor(database: Database) {
    this.#database = database;
    this.#deleted = new DeletedSessions(database);
    // A longer part with the same first event contains the stored part, and replaces it.
    this.#insert = database.prepare(
      `INSERT INTO kept_events (run_id, from_seq, session_id, events) VALUES (?, ?, ?, ?)
       ON CONFLICT (run_id, from_seq) DO UPDATE SET events = excluded.events
       WHERE length(excluded.events) > length(events)`,
    );
    this.#read = database.prepare(
      'SELECT events FROM kept_events WHERE run_id = ? ORDER BY from_seq',
    );
    this.#deleteOfSession = database.prepare('DELETE FROM kept_events WHERE session_id = ?');
  }

  async store(runId: string, events: readonly StreamEvent[]): Promise<void> {
    for (const part of encodeEventParts(runId, events)) {
      await this.#database.writeInTurn('STORE_WRITE_FAILED', () => {
        if (this.#deleted.has(part.sessionId)) return;
        this.#insert.run(keyOf(runId), part.fromSeq, keyOf(part.sessionId), part.events);
      });
      await yieldToEventLoop();
    }
  }

  async read(runId: string): Promise<StreamEvent[]> {
    const found: unknown[] = this.#database.read(() => this.#read.all(keyOf(runId)));
    const rows = found as { events: string }[];
    return decodeEventParts(runId, rows);
  }

  /** Deletes a session's events. The caller wraps the call in a transaction. */
  deleteSession(sessionId: string): void {
    this.#deleteOfSession.run(keyOf(sessionId));
  }
}
