import type { FunctionReturnType } from 'convex/server';
import type { SearchHit, SearchQuery } from '../response-store.ts';
import { itemHit, titleHits } from '../store/search-hits.ts';
import type { ParsedQuery } from '../store/search-query.ts';
import { indexTerms, parseQuery } from '../store/search-query.ts';
import { readSession } from '../store/stored-json.ts';
import { idOfTextKey, textKey } from '../store/text-key.ts';
import { api, type Deployment } from './deployment.ts';
import { itemsIn } from './reading.ts';

/** The number of items that are read at once to check for the words. */
const batchSize = 20;

/**
 * Searches titles and items. For frequent words, only the 256 best matches are checked: Convex returns the best matches
 * first, not the newest.
 */
export async function search(
  deployment: Deployment,
  { text, projectId, limit }: SearchQuery,
): Promise<SearchHit[]> {
  const query = parseQuery(text);
  if (!query || limit <= 0) return [];
  const { exact, prefix } = indexTerms(query);
  const wanted = {
    words: [...exact, prefix].join(' '),
    ...(projectId !== undefined && { projectId: textKey(projectId) }),
  };
  const titles = (await deployment.query(api.search.titles, wanted))
    .flatMap((parts) => readSession(parts.join('')) ?? [])
    .toSorted((a, b) => compare(b.updatedAt, a.updatedAt) || compare(b.createdAt, a.createdAt));
  const hits = [...titleHits(titles, query)].slice(0, limit);
  const places = (await deployment.query(api.search.items, wanted)).toSorted(
    (a, b) => b.savedAt - a.savedAt || b.index - a.index,
  );
  for (let from = 0; hits.length < limit && from < places.length; from += batchSize) {
    const found = hitsAmong(deployment, places.slice(from, from + batchSize), query);
    for await (const hit of found) {
      hits.push(hit);
      if (hits.length === limit) break;
    }
  }
  return hits;
}

type ItemPlace = FunctionReturnType<typeof api.search.items>[number];

/** Yields the positions of the items that match the query; has only one item at a time in memory. */
async function* hitsAmong(
  deployment: Deployment,
  places: readonly ItemPlace[],
  query: ParsedQuery,
): AsyncGenerator<SearchHit> {
  const sessions = new Map(
    places.map(({ runId, threadId }) => [idOfTextKey(runId), idOfTextKey(threadId)]),
  );
  const ranges = places.map(({ runId, revision, index }) => {
    return { runId, revision, from: index, to: index + 1 };
  });
  for await (const item of itemsIn(deployment, ranges)) {
    const hit = itemHit(sessions.get(item.runId) ?? '', item, query);
    if (hit) yield hit;
  }
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
