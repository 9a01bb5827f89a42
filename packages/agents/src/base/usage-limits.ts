import type { UsageLimit } from '@liminal/protocol';

/** The windows of an account, as last told: an agent tells one, or some, at a time. */
export class UsageLimits {
  readonly #limits = new Map<string, UsageLimit>();

  /** Returns all windows if something has changed. */
  learn(told: readonly UsageLimit[]): UsageLimit[] | undefined {
    const before = JSON.stringify([...this.#limits.values()]);
    for (const limit of told) this.#limits.set(limit.name, limit);
    const all = [...this.#limits.values()];
    return JSON.stringify(all) === before ? undefined : all;
  }
}

/** From seconds since the epoch, as ISO 8601 UTC; undefined if the number is no valid time. */
export function timeOfSeconds(seconds: number): string | undefined {
  const time = new Date(seconds * 1_000);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}
