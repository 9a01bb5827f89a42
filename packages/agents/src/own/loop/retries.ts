import { ModelError } from './model-error.ts';

export interface RetrySettings {
  /** The most attempts to send a request. */
  attempts: number;
  /** The first delay, in ms; each further delay is twice as long. */
  firstMs: number;
  /** The longest delay, in ms. If a server asks for a longer delay, the request is not repeated. */
  maxMs: number;
}

export const defaultRetries: RetrySettings = { attempts: 6, firstMs: 1_000, maxMs: 60_000 };

/** Returns the delay before the next attempt, in ms; undefined if there is no next attempt. `attempt` counts from 1. */
export function waitAfter(
  error: unknown,
  attempt: number,
  { attempts, firstMs, maxMs }: RetrySettings,
  random: () => number = Math.random,
): number | undefined {
  if (!(error instanceof ModelError) || !error.isPassing || attempt >= attempts) return undefined;
  const { retryAfterMs: wanted } = error;
  if (wanted !== undefined) return wanted <= maxMs ? wanted : undefined;
  // The delay is random, so that sessions that failed at the same time do not retry at the same time.
  const spread = 0.75 + random() / 2;
  return Math.min(firstMs * 2 ** (attempt - 1) * spread, maxMs);
}
