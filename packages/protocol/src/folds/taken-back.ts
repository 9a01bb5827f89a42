/** Returns the turns of a conversation that were taken back. */
import type { TurnSummary } from '../sessions.ts';

type RewindableTurn = Pick<TurnSummary, 'turnId' | 'rewoundTo'>;

/**
 * Maps the id of each turn that was taken back to the id of the newest rewind that took the turn back. `turns` are all
 * turns of a conversation, or the newest of them, oldest first. If the target of a rewind is not among `turns`, the
 * target is older than all of them.
 */
export function takenBack(turns: readonly RewindableTurn[]): Map<string, string> {
  // Most conversations have no rewind. For such conversations this check keeps the function fast, which matters because
  // the page calls the function for each new word.
  if (turns.every(({ rewoundTo }) => rewoundTo === undefined)) return new Map();
  const places = new Map(turns.map(({ turnId }, place) => [turnId, place]));
  const found = new Map<string, string>();
  /** The server turn that took back all turns from the index `from` up to its own index. */
  let latestRewind: { by: string; from: number } | undefined;
  for (const [place, { turnId, rewoundTo }] of [...turns.entries()].toReversed()) {
    const isInside = latestRewind !== undefined && place >= latestRewind.from;
    if (latestRewind && isInside) found.set(turnId, latestRewind.by);
    if (rewoundTo === undefined) continue;
    const from = places.get(rewoundTo) ?? 0;
    latestRewind =
      latestRewind && isInside
        ? { by: latestRewind.by, from: Math.min(from, latestRewind.from) }
        : { by: turnId, from };
  }
  return found;
}

/** Returns the turns that were not taken back: the turns that the agent knows, and the server's own turns. */
export function withoutTakenBack<T extends RewindableTurn>(turns: readonly T[]): T[] {
  const gone = takenBack(turns);
  return turns.filter(({ turnId }) => !gone.has(turnId));
}
