/** Reads an account's usage windows (Codex' `RateLimitSnapshot`). */
import { z } from 'zod';
import type { UsageLimit } from '@liminal/protocol';
import { timeOfSeconds } from '../../../base/usage-limits.ts';

const Window = z
  .looseObject({
    usedPercent: z.number(),
    windowDurationMins: z.number().positive().nullish().catch(undefined),
    /** Seconds since the epoch. */
    resetsAt: z.number().nullish().catch(undefined),
  })
  .nullish()
  .catch(undefined);

const Snapshot = z.looseObject({
  limitName: z.string().nullish().catch(undefined),
  primary: Window,
  secondary: Window,
  /** The reason why Codex cannot be used now. The reason does not contain which window is used up. */
  rateLimitReachedType: z.string().nullish().catch(undefined),
});

const LimitsAnswer = z.looseObject({ rateLimits: Snapshot });

/** @param answer - The answer to `account/rateLimits/read`, or its notification; has `rateLimits`. */
export function readLimits(answer: unknown): UsageLimit[] {
  const { data } = LimitsAnswer.safeParse(answer);
  if (data === undefined) return [];
  const { limitName, primary, secondary, rateLimitReachedType: reached } = data.rateLimits;
  const suffix = limitName ? ` for ${limitName}` : '';
  const windows = [primary, secondary].filter((window) => window != null);
  const fullest = Math.max(...windows.map(({ usedPercent }) => usedPercent));
  return windows.map(({ usedPercent, windowDurationMins: minutes, resetsAt }) => {
    const time = resetsAt == null ? undefined : timeOfSeconds(resetsAt);
    const name = `${nameOfWindow(minutes ?? undefined)}${suffix}`;
    const isReached = reached != null && usedPercent >= Math.min(fullest, 100);
    return {
      name,
      usedPercent,
      ...(isReached && { isReached }),
      ...(time !== undefined && { resetsAt: time }),
    };
  });
}

const hour = 60;
const day = 24 * hour;

function nameOfWindow(minutes: number | undefined): string {
  if (minutes === undefined) return 'usage limit';
  // Codex rounds the lengths of its windows: a week may have 10,079 minutes.
  if (Math.abs(minutes - 7 * day) < hour) return 'weekly limit';
  if (minutes >= 2 * day) return `${Math.round(minutes / day)}-day limit`;
  return minutes >= hour ? `${Math.round(minutes / hour)}-hour limit` : `${minutes}-minute limit`;
}
