import type { SessionRecord } from '../response-store.ts';

/** Returns all ids of a session: Liminal's id, and the agent's present and former ids if they differ from Liminal's. */
export function sessionIdsOf({
  sessionId,
  agentSessionId = sessionId,
  formerAgentSessionIds = [],
}: SessionRecord): string[] {
  return [...new Set([sessionId, agentSessionId, ...formerAgentSessionIds])];
}
