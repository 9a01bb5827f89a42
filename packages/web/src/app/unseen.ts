import type { SessionSummary } from '@liminal/protocol';

/** The ids of busy sessions, and of sessions that finished unseen, as stored in this browser. */
export interface Shown {
  /** Sessions that were working or waiting for a person at the last check. */
  busy: readonly string[];
  /** Sessions that have finished since then and were not opened. */
  unseen: readonly string[];
}

/** Updates the ids from the current session list; `active` is the session that is shown. */
export function lookAgain(
  { busy, unseen }: Shown,
  sessions: readonly SessionSummary[],
  active: string | undefined,
): Shown {
  const known = new Set([...busy, ...unseen]);
  const kept = sessions.filter(({ archived }) => archived !== true);
  const isAtRest = ({ state }: SessionSummary) => state === 'idle' || state === 'failed';
  const idsOf = (some: SessionSummary[]) => some.map(({ sessionId }) => sessionId);
  return {
    busy: idsOf(kept.filter((one) => !isAtRest(one))),
    unseen: idsOf(kept.filter(isAtRest)).filter((id) => id !== active && known.has(id)),
  };
}
