import type { UsageLimit } from '@liminal/protocol';

/** The usage limits of an account, as last reported. One report of an agent may contain only some of the limits. */
export class UsageLimits {
  readonly #limits = new Map<string, UsageLimit>();

  /** Adds reported limits. Returns all limits if any has changed, otherwise undefined. */
  applyUpdate(reported: readonly UsageLimit[]): UsageLimit[] | undefined {
    const before = JSON.stringify([...this.#limits.values()]);
    for (const limit of reported) this.#limits.set(limit.name, limit);
    const all = [...this.#limits.values()];
    return JSON.stringify(all) === before ? undefined : all;
  }
}

/** Converts seconds since the epoch to ISO 8601 UTC; undefined if the number is not a valid time. */
export function timeOfSeconds(seconds: number): string | undefined {
  const time = new Date(seconds * 1_000);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}
