import type { Config } from '../config/load.ts';
import { connectTo } from '../connect.ts';
import { findTurn } from '../find-turn.ts';

export interface ForkFlags {
  /** The number of the turn, counted from the session's beginning, or the turn's id. */
  turn?: string;
}

/** Forks a session after a turn, by default after the last turn that has ended, and prints the new session's id. */
export async function fork(
  sessionId: string,
  { turn }: ForkFlags,
  config: Config,
): Promise<number> {
  const { client, close } = await connectTo(sessionId, config);
  try {
    const turnId = turn === undefined ? undefined : await findTurn(client, sessionId, turn);
    const made = await client.requests.fork(sessionId, { turnId });
    console.log(made.sessionId);
    return 0;
  } finally {
    await close();
  }
}
