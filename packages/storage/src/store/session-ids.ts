import type { SessionRecord } from '../response-store.ts';

/** Returns the ids by which a session is known: ours, and its agent's, present and former, where those differ. */
export function sessionIdsOf({
  sessionId,
  agentSessionId = sessionId,
  formerAgentSessionIds = [],
}: SessionRecord): string[] {
  return [...new Set([sessionId, agentSessionId, ...formerAgentSessionIds])];
}
