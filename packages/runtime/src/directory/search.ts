import { type SearchResult, takenBack } from '@liminal/protocol';
import type { ResponseStore, SearchQuery, SessionRecord } from '@liminal/storage';
import { sessionName } from '../session/index.ts';

/** Returns the store's hits, each with the summary of its session. */
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
  const gone = await runsTakenBack(store, [...sessions.values()]);
  const hits = found.flatMap(({ item, ...hit }) => {
    const session = sessions.get(hit.sessionId);
    // The session was deleted after the search.
    if (!session) return [];
    const { cliType, projectId } = session;
    const isGone = item !== undefined && gone.has(item.runId);
    const marked = item && { item: { ...item, ...(isGone && { takenBack: true }) } };
    return { ...hit, ...marked, cliType, projectId, title: sessionName(session) };
  });
  return { hits };
}

async function runsTakenBack(
  store: ResponseStore,
  sessions: readonly SessionRecord[],
): Promise<Set<string>> {
  const ids = sessions
    .filter(({ rewound, importedFrom }) => rewound === true || importedFrom !== undefined)
    .map(async ({ sessionId }) => {
      const heads = (await store.listRuns(sessionId)) ?? [];
      const gone = takenBack(heads);
      return heads.filter(({ turnId }) => gone.has(turnId)).map(({ id }) => id);
    });
  return new Set((await Promise.all(ids)).flat());
}
