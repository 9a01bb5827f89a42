import type { Lease, Leases } from '../../coordination.ts';
import { isForeignKey, type Keys, type RedisLink, scripts } from '../connection/index.ts';

/**
 * How long an expired lease is remembered, in ms. During this time, the lease's holder can renew it if no other holder
 * has acquired it.
 */
const rememberMs = 24 * 60 * 60_000;

/** Leases, timed by Redis's clock, because the servers' clocks may differ. */
export class RedisLeases implements Leases {
  readonly #link: RedisLink;
  readonly #keys: Keys;

  constructor(link: RedisLink, keys: Keys) {
    this.#link = link;
    this.#keys = keys;
  }

  async acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined> {
    const args = [holder, ttlMs, rememberMs];
    const token = await this.#link.run(scripts.acquire, [this.#keys.lease(name)], args);
    return token === null ? undefined : { name, holder, token: Number(token) };
  }

  async renew({ name, token }: Lease, ttlMs: number): Promise<boolean> {
    const args = [token, ttlMs, rememberMs];
    return (await this.#link.run(scripts.renew, [this.#keys.lease(name)], args)) === 1;
  }

  async release(lease: Lease): Promise<void> {
    await this.renew(lease, 0);
  }

  async holders(names: readonly string[]): Promise<Map<string, Lease>> {
    const found = await Promise.all(names.map(async (name) => this.#holder(name)));
    return new Map(found.flatMap((lease) => (lease ? [[lease.name, lease] as const] : [])));
  }

  async #holder(name: string): Promise<Lease | undefined> {
    try {
      const found = await this.#link.run(scripts.holder, [this.#keys.lease(name)], []);
      if (found === null) return undefined;
      const [holder, token] = found as [string, string];
      return { name, holder, token: Number(token) };
    } catch (error) {
      if (isForeignKey(error)) return undefined;
      throw error;
    }
  }
}
