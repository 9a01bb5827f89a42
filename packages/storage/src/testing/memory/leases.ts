import type { Lease, Leases } from '../../coordination.ts';

interface Held extends Lease {
  /** When the lease expires, ms since the epoch. */
  until: number;
}

export class MemoryLeases implements Leases {
  readonly #now: () => number;
  /** All leases by name, including expired and released ones, so that a token is never reused. */
  readonly #leases = new Map<string, Held>();

  /** @param now - The clock, ms since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  async acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined> {
    const last = this.#leases.get(name);
    const isHeld = last !== undefined && last.until > this.#now();
    if (isHeld && last.holder !== holder) return undefined;
    const token = isHeld ? last.token : (last?.token ?? 0) + 1;
    this.#leases.set(name, { name, holder, token, until: this.#now() + ttlMs });
    return { name, holder, token };
  }

  async renew({ name, token }: Lease, ttlMs: number): Promise<boolean> {
    const last = this.#leases.get(name);
    if (last?.token !== token) return false;
    last.until = this.#now() + ttlMs;
    return true;
  }

  async release({ name, token }: Lease): Promise<void> {
    const last = this.#leases.get(name);
    if (last?.token === token) last.until = 0;
  }

  async holders(names: readonly string[]): Promise<Map<string, Lease>> {
    const found = names.flatMap((name) => this.#leases.get(name) ?? []);
    return new Map(
      found
        .filter(({ until }) => until > this.#now())
        .map(({ name, holder, token }) => [name, { name, holder, token }]),
    );
  }
}
