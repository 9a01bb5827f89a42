/** First and longest wait between attempts (ms). */
const shortest = 250;
const longest = 10_000;

/**
 * How long to wait before attempt number `attempt` (from 0), in ms. The wait doubles, and is spread over its upper half
 * so that many pages do not come back at the same moment. `random` is in [0, 1).
 */
export function backoff(attempt: number, random: number): number {
  const ceiling = Math.min(longest, shortest * 2 ** attempt);
  return Math.round(ceiling * (0.5 + random / 2));
}
