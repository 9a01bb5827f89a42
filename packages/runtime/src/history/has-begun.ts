import type { SessionRecord } from '@liminal/storage';
import { RuntimeError } from '../errors.ts';
import type { Storage } from './read-run.ts';
import { sessionOfTurn } from './recovery.ts';

/**
 * Whether a message need not be sent again: its turn is in the log or in history. Throws `TURN_ID_TAKEN` if the turn
 * belongs to another session.
 */
export async function hasBegun(
  storage: Storage,
  { sessionId, queue }: SessionRecord,
  turnId: string,
): Promise<boolean> {
  if (queue.some((entry) => entry.turnId === turnId)) return false;
  const owner = await sessionOfTurn(storage, turnId);
  if (owner === undefined || owner === sessionId) return owner !== undefined;
  throw new RuntimeError(
    'TURN_ID_TAKEN',
    `The turn ${turnId} belongs to another session. Send the message with a new id.`,
  );
}
