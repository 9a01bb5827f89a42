import { StorageError } from '../errors.ts';
import type { SessionRecord } from '../response-store.ts';

type Owned = Pick<SessionRecord, 'sessionId' | 'fence'>;

/** Throws `STALE_OWNER` if a former owner would overwrite a later owner's record. */
export function refuseStale(
  session: Owned,
  stored: { fence?: number | undefined } | undefined,
): void {
  if (stored === undefined || (stored.fence ?? 0) <= session.fence) return;
  throw staleOwner(session);
}

/** The error for a save after the session has been deleted. */
export function sessionDeleted(sessionId: string): StorageError {
  return new StorageError('SESSION_NOT_FOUND', `Session ${sessionId} has been deleted.`);
}

export function staleOwner({ sessionId }: Owned): StorageError {
  return new StorageError(
    'STALE_OWNER',
    `Session ${sessionId} has another owner now. The change of this server was not stored.`,
  );
}
