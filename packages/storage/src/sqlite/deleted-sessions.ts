import type { StatementSync } from 'node:sqlite';
import type { Database } from './database.ts';
import { keyOf } from './id-key.ts';

/** The ids of deleted sessions: their own and their agents'. The caller wraps writes in a transaction. */
export class DeletedSessions {
  readonly #add: StatementSync;
  readonly #has: StatementSync;

  constructor(database: Database) {
    this.#add = database.prepare('INSERT OR IGNORE INTO deleted_sessions (session_id) VALUES (?)');
    this.#has = database.prepare('SELECT 1 FROM deleted_sessions WHERE session_id = ?');
  }

  add(id: string): void {
    this.#add.run(keyOf(id));
  }

  has(id: string): boolean {
    return this.#has.get(keyOf(id)) !== undefined;
  }
}
