import type { SessionState, SessionSummary } from '@liminal/protocol';
import { labelOf } from '../words/label.ts';

/**
 * Returns announcements for the sessions whose state has changed: the session now waits for a person, has ended or has
 * failed. Leaves out the session that is shown, and sessions that were not known before.
 */
export function sessionAnnouncements(
  before: ReadonlyMap<string, SessionState>,
  sessions: readonly SessionSummary[],
  active: string | undefined,
): string[] {
  return sessions.flatMap(({ sessionId, state, title }) => {
    const was = before.get(sessionId);
    if (was === undefined || was === state || sessionId === active) return [];
    if (state === 'waiting') return [`${labelOf(title)} needs you.`];
    if (state === 'idle' && was === 'running') return [`${labelOf(title)} has finished.`];
    return state === 'failed' ? [`${labelOf(title)} has failed.`] : [];
  });
}
