import type { RawBuilder, Transaction } from 'kysely';
import { sql } from 'kysely';
import type { SearchHit, SearchQuery } from '../response-store.ts';
import type { ItemRow } from '../store/rows.ts';
import { titleHits } from '../store/search-hits.ts';
import type { ParsedQuery } from '../store/search-query.ts';
import { indexTerms, parseQuery } from '../store/search-query.ts';
import { fittingBatches } from '../store/item-page.ts';
import { type Key, rowReader, type Tables } from './tables.ts';
import { textKey } from '../store/text-key.ts';

/** The most items, and the most bytes of items, that one read returns; and the most items that one search examines. */
const batchLimits = { count: 100, size: 8 * 1_048_576 };
const candidatesMax = 20_000;

export async function search(
  db: Transaction<Tables>,
  { text, projectId, limit }: SearchQuery,
): Promise<SearchHit[]> {
  const query = parseQuery(text);
  if (!query || limit <= 0) return [];
  const project = projectId === undefined ? undefined : textKey(projectId);
  const hits = (await findTitles(db, query, project)).slice(0, limit);
  const places = hits.length < limit ? await findItemKeys(db, query, project) : [];
  for (const batch of fittingBatches(places, ({ size }) => size, batchLimits)) {
    if (hits.length >= limit) break;
    const rows = await readCandidates(db, batch);
    hits.push(...rows.flatMap((row) => rowReader.hit(row, query) ?? []));
  }
  return hits.slice(0, limit);
}

async function findTitles(
  db: Transaction<Tables>,
  query: ParsedQuery,
  project: string | undefined,
): Promise<SearchHit[]> {
  const rows = await db
    .selectFrom('sessions')
    .select(['session_id', 'record'])
    .where(hasWords('title_words', query))
    .$if(project !== undefined, (all) => all.where('project_id', '=', project ?? ''))
    .orderBy('updated_at', 'desc')
    .orderBy('created_at', 'desc')
    .execute();
  return [...titleHits(rowReader.sessions(rows), query)];
}

interface ItemKey {
  response_key: Key;
  item_index: number;
}

interface SizedItemKey extends ItemKey {
  /** The size in bytes of JSON. */
  size: number;
}

/** Returns the positions of items that contain the words, newest first. */
async function findItemKeys(
  db: Transaction<Tables>,
  query: ParsedQuery,
  project: string | undefined,
): Promise<SizedItemKey[]> {
  return (
    db
      // Materialised: otherwise, for a small limit, the database might scan all items instead of using the index.
      .with(
        (cte) => cte('found').materialized(),
        (found) =>
          found
            .selectFrom('items')
            .select(['response_key', 'item_index', sql<number>`octet_length(item)`.as('size')])
            .where('words', 'is not', null)
            .where(hasWords('words', query)),
      )
      .selectFrom('found')
      .select(['found.response_key', 'found.item_index', 'found.size'])
      .$if(project !== undefined, (all) =>
        all
          .innerJoin('responses', 'responses.response_key', 'found.response_key')
          .innerJoin('sessions', 'sessions.session_id', 'responses.session_id')
          .where('project_id', '=', project ?? ''),
      )
      .orderBy('found.response_key', 'desc')
      .orderBy('found.item_index', 'desc')
      .limit(candidatesMax)
      .execute()
  );
}

type Candidate = ItemKey & ItemRow & { session_id: string };

/** Returns the items at these positions, newest first. */
async function readCandidates(
  db: Transaction<Tables>,
  places: readonly ItemKey[],
): Promise<Candidate[]> {
  const keys = places.map(({ response_key }) => response_key);
  const indexes = places.map(({ item_index }) => item_index);
  return db
    .selectFrom('items')
    .innerJoin('responses', 'responses.response_key', 'items.response_key')
    .select(['items.response_key', 'item_index', 'item', 'run_id', 'session_id'])
    .where(
      sql<boolean>`(items.response_key, item_index) IN
        (SELECT * FROM unnest(${keys}::bigint[], ${indexes}::integer[]))`,
    )
    .orderBy('items.response_key', 'desc')
    .orderBy('item_index', 'desc')
    .execute();
}

/**
 * Returns a condition for the words in the index. The words are in quotes, so that they cannot be operators of a
 * tsquery.
 */
function hasWords(column: 'words' | 'title_words', query: ParsedQuery): RawBuilder<boolean> {
  const { exact, prefix } = indexTerms(query);
  const wanted = [...exact.map((word) => `'${word}'`), `'${prefix}':*`].join(' & ');
  return sql`array_to_tsvector(string_to_array(${sql.ref(column)}, ' ')) @@ ${wanted}::tsquery`;
}
