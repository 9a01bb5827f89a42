import type { SessionSummary } from '@liminal/protocol';

/** The ids of busy sessions, and of sessions that finished while they were not shown, as stored in this browser. */
export interface SeenState {
  /** Sessions that were working or waiting for a person at the last check. */
  busy: readonly string[];
  /** Sessions that have finished and that nobody has opened since. */
  unseen: readonly string[];
}

/** Returns the ids that follow from the current session list. `active` is the session that is shown. */
export function updateSeen(
  { busy, unseen }: SeenState,
  sessions: readonly SessionSummary[],
  active: string | undefined,
): SeenState {
  const known = new Set([...busy, ...unseen]);
  const unarchived = sessions.filter(({ archived }) => archived !== true);
  const isIdle = ({ state }: SessionSummary) => state === 'idle' || state === 'failed';
  const idsOf = (some: SessionSummary[]) => some.map(({ sessionId }) => sessionId);
  return {
    busy: idsOf(unarchived.filter((one) => !isIdle(one))),
    unseen: idsOf(unarchived.filter(isIdle)).filter((id) => id !== active && known.has(id)),
  };
}
