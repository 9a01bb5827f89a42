import type { SearchResult } from '@liminal/protocol';

type Hit = SearchResult['hits'][number];
type Item = NonNullable<Hit['item']>;

/** One place in a conversation that has what was looked for. */
export interface ItemHit {
  /** Names it in lists. */
  key: string;
  /** What to show of the session: the item, or the call that shows it. */
  target: string;
  snippet: string;
  /** What it is, where it is not something that was said. */
  kind: string | undefined;
}

/** What was found in one session. */
export interface SessionHits {
  sessionId: string;
  cliType: string;
  title: string;
  hits: ItemHit[];
}

/** What was found inside of conversations, by session: the session with the newest hit first, as the server has it. */
export function groupHits(hits: readonly Hit[]): SessionHits[] {
  const groups = new Map<string, SessionHits>();
  for (const { sessionId, cliType, title, item, snippet } of hits) {
    if (item === undefined) continue;
    const group = groups.get(sessionId) ?? { sessionId, cliType, title, hits: [] };
    groups.set(sessionId, group);
    const target = item.callId ?? item.itemId;
    const key = `${sessionId} ${item.runId}:${item.index}`;
    group.hits.push({ key, target, snippet, kind: kinds[item.type] });
  }
  return [...groups.values()];
}

const kinds: Record<Item['type'], string | undefined> = {
  message: undefined,
  reasoning: 'Thought',
  function_call: 'Tool',
  function_call_output: 'Output',
  script_execution: 'Script',
  script_execution_output: 'Output',
  plan: 'Plan',
  approval: 'Request',
  error: 'Error',
};
