import type { SessionSummary } from '@liminal/protocol';

/** The ids of sessions at work, and of those that have ended unseen, as this browser keeps them. */
export interface Shown {
  /** Those at work, or waiting for a person, as of the last look. */
  busy: readonly string[];
  /** Those that have ended their work since, and were not opened. */
  unseen: readonly string[];
}

/** The same after another look at the list, while `active` is the session in sight. */
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
