import { errors } from '../errors.ts';
import type { SessionRecord } from '../response-store.ts';

type Owned = Pick<SessionRecord, 'sessionId' | 'fence'>;

/** Throws `STALE_OWNER` if a former owner would overwrite a later owner's record. */
export function refuseStale(
  session: Owned,
  stored: { fence?: number | undefined } | undefined,
): void {
  if (stored === undefined || (stored.fence ?? 0) <= session.fence) return;
  throw errors.STALE_OWNER.saves(session.sessionId);
}
