import type { OutputItem } from '@liminal/protocol';
import type { SearchHit, SessionRecord, StoredItem } from '../response-store.ts';
import { snippetOf } from './match.ts';
import type { ParsedQuery } from './search-query.ts';
import { searchableText, searchableTitle } from './searchable-text.ts';

/** Yields hits among the titles of sessions, in the given order. */
export function* titleHits(
  sessions: Iterable<Pick<SessionRecord, 'sessionId' | 'title'>>,
  query: ParsedQuery,
): Generator<SearchHit> {
  for (const session of sessions) {
    const snippet = snippetOf(searchableTitle(session), query);
    if (snippet !== undefined) yield { sessionId: session.sessionId, snippet };
  }
}

/** The hit for an item, if it matches. */
export function itemHit(
  sessionId: string,
  { runId, index, item }: StoredItem,
  query: ParsedQuery,
): SearchHit | undefined {
  const snippet = snippetOf(searchableText(item), query);
  if (snippet === undefined) return undefined;
  const callId = callOf(item);
  const place = { runId, index, itemId: item.id, type: item.type };
  return { sessionId, item: { ...place, ...(callId !== undefined && { callId }) }, snippet };
}

function callOf(item: OutputItem): string | undefined {
  if (item.type === 'function_call_output' || item.type === 'approval') return item.callId;
  return item.type === 'script_execution_output' ? item.scriptId : undefined;
}
