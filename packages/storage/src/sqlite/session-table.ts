import type { StatementSync } from 'node:sqlite';
import type { SessionRecord } from '../response-store.ts';
import type { SessionRow } from '../store/rows.ts';
import { refuseDamaged } from '../store/stored-json.ts';
import type { Database } from './database.ts';
import { keyOf, rowReader } from './id-key.ts';

/** The table of sessions and its statements. The caller wraps writes in a transaction. */
export class SessionTable {
  readonly #save: StatementSync;
  readonly #find: StatementSync;
  readonly #list: StatementSync;
  readonly #all: StatementSync;
  readonly #delete: StatementSync;

  constructor(database: Database) {
    this.#save = database.prepare(
      `INSERT OR REPLACE INTO sessions
         (session_id, project_id, active, created_at, updated_at, record) VALUES (?, ?, ?, ?, ?, ?)`,
    );
    this.#find = database.prepare('SELECT session_id, record FROM sessions WHERE session_id = ?');
    this.#list = database.prepare(
      `SELECT session_id, record FROM sessions
       WHERE (?1 IS NULL OR project_id = ?1) AND (?2 IS NULL OR active = ?2)
       ORDER BY updated_at DESC, created_at DESC`,
    );
    this.#all = database.prepare('SELECT session_id, record FROM sessions');
    this.#delete = database.prepare('DELETE FROM sessions WHERE session_id = ?');
  }

  save(session: SessionRecord): void {
    const { sessionId, projectId, active, createdAt, updatedAt } = session;
    const record = JSON.stringify(session);
    const [id, project] = [keyOf(sessionId), keyOf(projectId)];
    this.#save.run(id, project, Number(active), createdAt, updatedAt, record);
  }

  find(sessionId: string): SessionRecord | undefined {
    const row = this.#find.get(keyOf(sessionId)) as unknown as SessionRow | undefined;
    return row && rowReader.session(row);
  }

  /**
   * Returns the token under which a session's record was written; undefined if there is none. Throws
   * `STORE_READ_FAILED`.
   */
  fenceOf(sessionId: string): number | undefined {
    const row = this.#find.get(keyOf(sessionId)) as unknown as SessionRow | undefined;
    refuseDamaged(sessionId, row?.record);
    return row && rowReader.session(row)?.fence;
  }

  list({ projectId, active }: { projectId?: string; active?: boolean }): SessionRecord[] {
    const open = active === undefined ? null : Number(active);
    const rows = this.#list.all(
      projectId === undefined ? null : keyOf(projectId),
      open,
    ) as unknown[] as SessionRow[];
    return rowReader.sessions(rows);
  }

  /** Returns the ids of sessions whose records are damaged. */
  unreadable(): string[] {
    return rowReader.damagedSessions(this.#all.all() as unknown[] as SessionRow[]);
  }

  delete(sessionId: string): void {
    this.#delete.run(keyOf(sessionId));
  }
}
