/** The turns of a conversation that were taken back. */
import type { TurnSummary } from '../sessions.ts';

type Turn = Pick<TurnSummary, 'turnId' | 'rewoundTo'>;

/**
 * Maps each turn that was taken back to the newest turn of the server that did so. `turns` are all turns of a
 * conversation, or its newest ones, oldest first: a rewind's target that is missing there is older than all of them.
 */
export function takenBack(turns: readonly Turn[]): Map<string, string> {
  // A shortcut for most conversations, since the page calls this with each new word.
  if (turns.every(({ rewoundTo }) => rewoundTo === undefined)) return new Map();
  const places = new Map(turns.map(({ turnId }, place) => [turnId, place]));
  const found = new Map<string, string>();
  /** The turn that took back all turns from the place `from` up to itself. */
  let newest: { by: string; from: number } | undefined;
  for (const [place, { turnId, rewoundTo }] of [...turns.entries()].toReversed()) {
    const isInside = newest !== undefined && place >= newest.from;
    if (newest && isInside) found.set(turnId, newest.by);
    if (rewoundTo === undefined) continue;
    const from = places.get(rewoundTo) ?? 0;
    newest =
      newest && isInside
        ? { by: newest.by, from: Math.min(from, newest.from) }
        : { by: turnId, from };
  }
  return found;
}

/** The turns that the agent knows, and the server's own turns, which no agent knows. */
export function withoutTakenBack<T extends Turn>(turns: readonly T[]): T[] {
  const gone = takenBack(turns);
  return turns.filter(({ turnId }) => !gone.has(turnId));
}
