import type { SessionRecord } from '../response-store.ts';

/** The ids of a session: its own, and its agent's if that differs. */
export function idsOf({ sessionId, agentSessionId = sessionId }: SessionRecord): string[] {
  return [...new Set([sessionId, agentSessionId])];
}
