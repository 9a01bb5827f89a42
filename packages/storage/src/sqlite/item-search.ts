import type { StatementSync } from 'node:sqlite';
import type { SearchHit } from '../response-store.ts';
import type { ItemRow } from '../store/rows.ts';
import type { ParsedQuery } from '../store/search-query.ts';
import { indexTerms } from '../store/search-query.ts';
import type { Database } from './database.ts';
import { keyOf, rowReader } from './id-key.ts';
import { indexBits } from './item-words.ts';

/** The most items that one search examines: each item blocks the server's one thread for a moment. */
const candidatesMax = 20_000;

/** Finds items by their words. */
export class ItemSearch {
  readonly #candidates: StatementSync;

  constructor(database: Database) {
    // With CROSS JOIN, SQLite keeps the order of the tables: it first reads the matching words, newest first, and reads
    // only as many words as needed.
    this.#candidates = database.prepare(
      `SELECT session_id, run_id, item_index, item
       FROM (SELECT rowid AS place FROM item_words WHERE item_words MATCH ?1
             ORDER BY rowid DESC LIMIT ${candidatesMax})
       CROSS JOIN responses ON response_key = place >> ${indexBits}
       CROSS JOIN items USING (response_key)
       WHERE item_index = place & ${2 ** indexBits - 1}
         AND (?2 IS NULL OR session_id IN (SELECT session_id FROM sessions WHERE project_id = ?2))`,
    );
  }

  /** Hits, newest first; read lazily. */
  *hits(query: ParsedQuery, projectId: string | undefined): Generator<SearchHit> {
    const rows: Iterable<unknown> = this.#candidates.iterate(
      matchOf(query),
      projectId === undefined ? null : keyOf(projectId),
    );
    for (const row of rows as Iterable<ItemRow & { session_id: string }>) {
      const hit = rowReader.hit(row, query);
      if (hit) yield hit;
    }
  }
}

/** Returns a query in SQLite's syntax. Words in quotes cannot be operators, and a star matches prefixes. */
function matchOf(query: ParsedQuery): string {
  const { exact, prefix } = indexTerms(query);
  return [...exact.map((word) => `"${word}"`), `"${prefix}"*`].join(' ');
}
