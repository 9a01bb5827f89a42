import type { StreamEvent } from '@liminal/protocol';
import { sql } from 'kysely';
import type { EventArchive } from '../event-archive.ts';
import { decodeEventParts, encodeEventParts } from '../log/event-parts.ts';
import { textKey } from '../store/text-key.ts';
import type { PostgresDatabase } from './database.ts';
import { isDeleted } from './deleted-sessions.ts';
import { lockSessions } from './save-responses.ts';

/** Archived events in parts of up to a megabyte. Each part is one row and one transaction. */
export class PostgresEventArchive implements EventArchive {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  async store(runId: string, events: readonly StreamEvent[]): Promise<void> {
    for (const part of encodeEventParts(runId, events)) {
      await this.#database.write(async (db) => {
        await lockSessions(db, [part.sessionId]);
        if (await isDeleted(db, part.sessionId)) return;
        await db
          .insertInto('kept_events')
          .values({
            run_id: textKey(runId),
            from_seq: part.fromSeq,
            session_id: textKey(part.sessionId),
            events: part.events,
          })
          // A longer part with the same first event contains the stored part, and replaces it.
          .onConflict((conflict) =>
            conflict
              .columns(['run_id', 'from_seq'])
              .doUpdateSet({ events: part.events })
              .where(sql<boolean>`length(excluded.events) > length(kept_events.events)`),
          )
          .execute();
      });
    }
  }

  async read(runId: string): Promise<StreamEvent[]> {
    const rows = await this.#database.read(async (db) =>
      db
        .selectFrom('kept_events')
        .select('events')
        .where('run_id', '=', textKey(runId))
        .orderBy('from_seq')
        .execute(),
    );
    return decodeEventParts(runId, rows);
  }
}
