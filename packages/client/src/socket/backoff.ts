/** The first wait between attempts, and the longest, in ms. */
const shortest = 250;
const longest = 10_000;

/**
 * Returns the wait before attempt number `attempt` (from 0), in ms. The wait doubles with each attempt; its upper half
 * is random, so that many pages do not reconnect at the same moment. `random` is in [0, 1).
 */
export function backoff(attempt: number, random: number): number {
  const ceiling = Math.min(longest, shortest * 2 ** attempt);
  return Math.round(ceiling * (0.5 + random / 2));
}
