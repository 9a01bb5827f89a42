import type { StatementSync } from 'node:sqlite';
import type { Grant } from '@liminal/protocol';
import { readGrant } from '../store/stored-json.ts';
import type { Database } from './database.ts';
import { keyOf } from './id-key.ts';

/** The table of grants and its statements. The caller wraps writes in a transaction. */
export class GrantTable {
  readonly #list: StatementSync;
  readonly #add: StatementSync;
  readonly #remove: StatementSync;

  constructor(database: Database) {
    this.#list = database.prepare(
      'SELECT record FROM grants WHERE project_id = ? ORDER BY grant_key',
    );
    this.#add = database.prepare(
      'INSERT OR IGNORE INTO grants (project_id, rule, record) VALUES (?, ?, ?)',
    );
    this.#remove = database.prepare('DELETE FROM grants WHERE project_id = ? AND rule = ?');
  }

  list(projectId: string): Grant[] {
    const rows = this.#list.all(keyOf(projectId)) as unknown[] as { record: string }[];
    return rows.flatMap(({ record }) => readGrant(record) ?? []);
  }

  add(projectId: string, grant: Grant): void {
    this.#add.run(keyOf(projectId), keyOf(grant.rule), JSON.stringify(grant));
  }

  remove(projectId: string, rule: string): void {
    this.#remove.run(keyOf(projectId), keyOf(rule));
  }
}
