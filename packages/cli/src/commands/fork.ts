import type { LiminalClient } from '@liminal/client';
import { LiminalError } from '@liminal/protocol';
import type { Config } from '../config/load.ts';
import { connect } from '../connect.ts';

export interface ForkFlags {
  /** The turn's number from the session's beginning, or its id. */
  turn?: string;
}

/** Forks a session after a turn, by default its last one that has ended, and prints the new session's id. */
export async function fork(
  sessionId: string,
  { turn }: ForkFlags,
  config: Config,
): Promise<number> {
  const { client, close } = await connect(config);
  try {
    // It may be one that only an agent's own store has.
    await client.requests.loadSession(sessionId);
    const turnId = turn === undefined ? undefined : await findTurn(client, sessionId, turn);
    const made = await client.requests.fork(sessionId, { turnId });
    console.log(made.sessionId);
    return 0;
  } finally {
    await close();
  }
}

async function findTurn(client: LiminalClient, sessionId: string, turn: string): Promise<string> {
  if (!/^\d{1,9}$/.test(turn)) return turn;
  const turns = await turnsOf(client, sessionId);
  const found = turns[Number(turn) - 1];
  if (found !== undefined) return found;
  const count = `${turns.length} ${turns.length === 1 ? 'turn' : 'turns'}`;
  throw new LiminalError('TURN_NOT_FOUND', `There is no turn ${turn}: the session has ${count}.`);
}

/** The ids of all turns, oldest first. */
async function turnsOf({ requests }: LiminalClient, sessionId: string): Promise<string[]> {
  // A turn can stand on several pages.
  const ids = new Set<string>();
  let before: string | undefined;
  do {
    const page = await requests.history(sessionId, { before });
    for (const { turnId } of page.turns.toReversed()) ids.add(turnId);
    before = page.hasMore ? page.before : undefined;
  } while (before !== undefined);
  return [...ids].toReversed();
}
