/**
 * Repeats a step until it succeeds, and resolves with its result.
 * @param onFailure - Called after each failed attempt, with the number of attempts so far. The next attempt begins when
 *   the call resolves; if the call throws, its error ends the attempts.
 */
export async function withRetries<T>(
  step: () => Promise<T>,
  onFailure: (error: unknown, attempts: number) => Promise<void>,
): Promise<T> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await step();
    } catch (error) {
      await onFailure(error, attempts);
    }
  }
}
