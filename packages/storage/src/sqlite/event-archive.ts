import type { StatementSync } from 'node:sqlite';
import type { StreamEvent } from '@liminal/protocol';
import type { EventArchive } from '../event-archive.ts';
import { decodeParts, encodeParts } from '../log/kept-parts.ts';
import { othersFirst } from '../others-first.ts';
import type { Database } from './database.ts';
import { DeletedSessions } from './deleted-sessions.ts';
import { keyOf } from './id-key.ts';

/** Archived events in parts of up to a megabyte. Each part is one row and one transaction. */
export class SqliteEventArchive implements EventArchive {
  readonly #database: Database;
  readonly #deleted: DeletedSessions;
  readonly #keep: StatementSync;
  readonly #read: StatementSync;
  readonly #deleteOfSession: StatementSync;

  constructor(database: Database) {
    this.#database = database;
    this.#deleted = new DeletedSessions(database);
    // Of two parts with the same first event, the longer one contains the other.
    this.#keep = database.prepare(
      `INSERT INTO kept_events (run_id, from_seq, session_id, events) VALUES (?, ?, ?, ?)
       ON CONFLICT (run_id, from_seq) DO UPDATE SET events = excluded.events
       WHERE length(excluded.events) > length(events)`,
    );
    this.#read = database.prepare(
      'SELECT events FROM kept_events WHERE run_id = ? ORDER BY from_seq',
    );
    this.#deleteOfSession = database.prepare('DELETE FROM kept_events WHERE session_id = ?');
  }

  async keep(runId: string, events: readonly StreamEvent[]): Promise<void> {
    for (const part of encodeParts(runId, events)) {
      await this.#database.writeInTurn('STORE_WRITE_FAILED', () => {
        if (this.#deleted.has(part.sessionId)) return;
        this.#keep.run(keyOf(runId), part.fromSeq, keyOf(part.sessionId), part.events);
      });
      await othersFirst();
    }
  }

  async read(runId: string): Promise<StreamEvent[]> {
    const found: unknown[] = this.#database.read(() => this.#read.all(keyOf(runId)));
    const rows = found as { events: string }[];
    return decodeParts(
      runId,
      rows.map(({ events }) => events),
    );
  }

  /** Deletes a session's events. The caller wraps the call in a transaction. */
  deleteSession(sessionId: string): void {
    this.#deleteOfSession.run(keyOf(sessionId));
  }
}
