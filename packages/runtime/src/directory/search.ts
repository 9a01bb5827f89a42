import type { SearchResult } from '@liminal/protocol';
import type { ResponseStore, SearchQuery } from '@liminal/storage';
import { nameOf } from '../session/index.ts';

/** The store's hits, each with what a user needs to know of its session. */
export async function searchHistory(
  store: ResponseStore,
  query: SearchQuery,
): Promise<SearchResult> {
  const found = await store.search(query);
  const ids = [...new Set(found.map(({ sessionId }) => sessionId))];
  const records = await Promise.all(ids.map((id) => store.getSession(id)));
  const sessions = new Map(
    records.flatMap((record) => (record ? [[record.sessionId, record]] : [])),
  );
  const hits = found.flatMap((hit) => {
    const session = sessions.get(hit.sessionId);
    // The session was deleted in between.
    if (!session) return [];
    const { cliType, projectId } = session;
    return { ...hit, cliType, projectId, title: nameOf(session) };
  });
  return { hits };
}
