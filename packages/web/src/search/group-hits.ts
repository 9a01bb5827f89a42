import type { SearchResult } from '@liminal/protocol';

type Hit = SearchResult['hits'][number];
type HitItem = NonNullable<Hit['item']>;

/** One item of a conversation that matches a search. */
export interface ItemHit {
  /** React key. */
  key: string;
  /** The id to scroll to: the id of the item, or of the call whose output matched. */
  target: string;
  snippet: string;
  /**
   * Words for the item's kind, and for whether the item was taken back; undefined for a message that was not taken
   * back.
   */
  kind: string | undefined;
}

/** The hits of one session. */
export interface SessionHits {
  sessionId: string;
  cliType: string;
  title: string;
  hits: ItemHit[];
}

/**
 * Returns hits in conversations, grouped by session. The session with the newest hit comes first, as in the server's
 * order.
 */
export function groupHits(hits: readonly Hit[]): SessionHits[] {
  const groups = new Map<string, SessionHits>();
  for (const { sessionId, cliType, title, item, snippet } of hits) {
    if (item === undefined) continue;
    const group = groups.get(sessionId) ?? { sessionId, cliType, title, hits: [] };
    groups.set(sessionId, group);
    const target = item.callId ?? item.itemId;
    const key = `${sessionId} ${item.runId}:${item.index}`;
    const kind = [kinds[item.type], item.takenBack === true ? 'Taken back' : undefined];
    group.hits.push({ key, target, snippet, kind: kind.filter(Boolean).join(' · ') || undefined });
  }
  return [...groups.values()];
}

const kinds: Record<HitItem['type'], string | undefined> = {
  message: undefined,
  reasoning: 'Thinking',
  function_call: 'Tool',
  function_call_output: 'Output',
  script_execution: 'Script',
  script_execution_output: 'Output',
  plan: 'Plan',
  file_changes: undefined,
  approval: 'Request',
  error: 'Error',
};
