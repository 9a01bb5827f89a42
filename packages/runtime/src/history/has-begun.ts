import { steeredItemId } from '@liminal/protocol';
import type { ResponseStore, SessionRecord } from '@liminal/storage';
import { errors } from '../errors.ts';
import type { Storage } from './read-run.ts';
import { sessionOfTurn } from './recovery.ts';

/**
 * Returns whether the log or history has the turn, so that its message need not be sent again. Throws `TURN_ID_TAKEN`
 * if the turn belongs to another session.
 */
export async function hasBegun(
  storage: Storage,
  { sessionId, queue }: SessionRecord,
  turnId: string,
): Promise<boolean> {
  if (queue.some((entry) => entry.turnId === turnId)) return false;
  const owner = await sessionOfTurn(storage, turnId);
  if (owner === undefined || owner === sessionId) return owner !== undefined;
  throw errors.TURN_ID_TAKEN.taken(turnId);
}

/** How far back in history a repeated steered message is searched: in items, and in bytes of JSON. */
const searchBounds = { limit: 1_000, size: 1_000_000 };

/** Returns the turn into which a message was steered, from history. */
export async function findSteeredTurn(
  store: ResponseStore,
  sessionId: string,
  messageId: string,
): Promise<string | undefined> {
  const { items } = await store.readItems(sessionId, searchBounds);
  return items.findLast(({ runId, item }) => item.id === steeredItemId(runId, messageId))?.runId;
}
