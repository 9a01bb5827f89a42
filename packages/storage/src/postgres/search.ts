import type { OutputItem } from '@liminal/protocol';
import type { RawBuilder, Transaction } from 'kysely';
import { sql } from 'kysely';
import type { SearchHit, SearchQuery, StoredItem } from '../response-store.ts';
import { itemHit, titleHits } from '../store/search-hits.ts';
import type { ParsedQuery } from '../store/search-query.ts';
import { indexTerms, parseQuery } from '../store/search-query.ts';
import { recordOf } from './sessions.ts';
import type { Key, Tables } from './tables.ts';
import { idOf, textKey } from '../store/text-key.ts';

/** Items that are read at once, and that one search looks at in all. */
const BATCH = 100;
const CANDIDATES_MAX = 20_000;

export async function search(
  db: Transaction<Tables>,
  { text, projectId, limit }: SearchQuery,
): Promise<SearchHit[]> {
  const query = parseQuery(text);
  if (!query || limit <= 0) return [];
  const project = projectId === undefined ? undefined : textKey(projectId);
  const hits = (await findTitles(db, query, project)).slice(0, limit);
  let place: Place | undefined;
  for (let seen = 0; hits.length < limit && seen < CANDIDATES_MAX; seen += BATCH) {
    const rows = await candidates(db, query, project, place);
    hits.push(
      ...rows.flatMap((row) => itemHit(idOf(row.session_id), storedItem(row), query) ?? []),
    );
    place = rows.at(-1);
    if (rows.length < BATCH) break;
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
    .select('record')
    .where(hasWords('title_words', query))
    .$if(project !== undefined, (all) => all.where('project_id', '=', project ?? ''))
    .orderBy('updated_at', 'desc')
    .orderBy('created_at', 'desc')
    .execute();
  return [...titleHits(rows.map(recordOf), query)];
}

interface Place {
  response_key: Key;
  item_index: number;
}

interface Candidate extends Place {
  /** JSON. */
  item: string;
  run_id: string;
  session_id: string;
}

/** Items that have the words, newest first, from before a place. */
async function candidates(
  db: Transaction<Tables>,
  query: ParsedQuery,
  project: string | undefined,
  before: Place | undefined,
): Promise<Candidate[]> {
  return db
    .selectFrom('items')
    .innerJoin('responses', 'responses.response_key', 'items.response_key')
    .select(['items.response_key', 'item_index', 'item', 'run_id', 'responses.session_id'])
    .where('words', 'is not', null)
    .where(hasWords('words', query))
    .$if(project !== undefined, (all) =>
      all
        .innerJoin('sessions', 'sessions.session_id', 'responses.session_id')
        .where('project_id', '=', project ?? ''),
    )
    .$if(before !== undefined, (all) =>
      all.where((row) =>
        row.eb(
          row.refTuple('items.response_key', 'items.item_index'),
          '<',
          row.tuple(before?.response_key ?? '', before?.item_index ?? 0),
        ),
      ),
    )
    .orderBy('items.response_key', 'desc')
    .orderBy('item_index', 'desc')
    .limit(BATCH)
    .execute();
}

/** In the words of the index, and of a tsquery, where words in quotes are nothing but words. */
function hasWords(column: 'words' | 'title_words', query: ParsedQuery): RawBuilder<boolean> {
  const { whole, prefix } = indexTerms(query);
  const wanted = [...whole.map((word) => `'${word}'`), `'${prefix}':*`].join(' & ');
  return sql`array_to_tsvector(string_to_array(${sql.ref(column)}, ' ')) @@ ${wanted}::tsquery`;
}

function storedItem(row: Candidate): StoredItem {
  return {
    runId: idOf(row.run_id),
    index: row.item_index,
    item: JSON.parse(row.item) as OutputItem,
  };
}
