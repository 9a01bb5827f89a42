import { ModelError } from './model-error.ts';

export interface RetrySettings {
  /** How often a request is made in all. */
  attempts: number;
  /** The first wait, ms; each further one is twice as long. */
  firstMs: number;
  /** The longest wait, ms; a server that asks for a longer one is not waited for. */
  maxMs: number;
}

export const defaultRetries: RetrySettings = { attempts: 6, firstMs: 1_000, maxMs: 60_000 };

/** How long to wait before a request is made again, ms; undefined if it is not. `attempt` counts from 1. */
export function waitAfter(
  error: unknown,
  attempt: number,
  { attempts, firstMs, maxMs }: RetrySettings,
  random: () => number = Math.random,
): number | undefined {
  if (!(error instanceof ModelError) || !error.isPassing || attempt >= attempts) return undefined;
  const { retryAfterMs: wanted } = error;
  if (wanted !== undefined) return wanted <= maxMs ? wanted : undefined;
  // Many sessions that failed together must not come back together.
  const spread = 0.75 + random() / 2;
  return Math.min(firstMs * 2 ** (attempt - 1) * spread, maxMs);
}
