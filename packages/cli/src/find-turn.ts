import type { LiminalClient } from '@liminal/client';
import { errors } from './errors.ts';

/**
 * Returns the id of a turn. The turn is given either as its number, counted from the session's beginning, or as its id.
 * Throws LiminalError `TURN_NOT_FOUND` if the session has no turn with the number.
 */
export async function findTurn(
  client: LiminalClient,
  sessionId: string,
  turn: string,
): Promise<string> {
  if (!/^\d{1,9}$/.test(turn)) return turn;
  const turns = await turnsOf(client, sessionId);
  const found = turns[Number(turn) - 1];
  if (found !== undefined) return found;
  throw errors.TURN_NOT_FOUND.beyond(turn, turns.length);
}

/** Returns the ids of all turns, oldest first. */
export async function turnsOf({ requests }: LiminalClient, sessionId: string): Promise<string[]> {
  // A turn can be on several pages of history, so count each id once.
  const ids = new Set<string>();
  let before: string | undefined;
  do {
    const page = await requests.history(sessionId, { before });
    for (const { turnId } of page.turns.toReversed()) ids.add(turnId);
    before = page.hasMore ? page.before : undefined;
  } while (before !== undefined);
  return [...ids].toReversed();
}
