import type { SessionState, SessionSummary } from '@liminal/protocol';

/**
 * What is worth telling of sessions whose state has changed: one that waits, wherever it is, and one that failed out of
 * sight. A session that was not known has not changed.
 */
export function news(
  before: ReadonlyMap<string, SessionState>,
  sessions: readonly SessionSummary[],
  active: string | undefined,
): string[] {
  return sessions.flatMap(({ sessionId, state, title }) => {
    const was = before.get(sessionId);
    if (was === undefined || was === state) return [];
    if (state === 'waiting') return [`${title} needs you.`];
    return state === 'failed' && sessionId !== active ? [`${title} has failed.`] : [];
  });
}
