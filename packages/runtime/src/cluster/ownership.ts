import type { Lease, Leases } from '@liminal/storage';

/**
 * Of the time within which a dead server's turns are over, the part after which its leases run out; the rest is for
 * noticing it and for ending the turns.
 */
export const TTL_SHARE = 0.4;

interface OwnershipOptions {
  leases: Leases;
  /** This server's name among the others. */
  instanceId: string;
  /** How long a lease lasts that is not renewed, in ms: so long after its owner's death a session has none. */
  ttlMs: number;
  /** Another server has taken the session. */
  onLost: (sessionId: string) => void;
  /** The leases cannot be renewed right now. */
  onTrouble: (error: unknown) => void;
}

/** What a session's lease is called. */
function leaseName(sessionId: string): string {
  return `session:${sessionId}`;
}

/**
 * The sessions that this server owns: for each a lease, renewed as long as it is owned. A server that is cut off goes
 * on with what it has, and what it does is refused by the log and the store if another has taken over meanwhile.
 */
export class Ownership {
  readonly #options: OwnershipOptions;
  readonly #leases = new Map<string, Lease>();
  readonly #timer: NodeJS.Timeout;
  /** Each lease for itself: one that Redis does not answer for keeps no other waiting. */
  readonly #renewing = new Map<Lease, Promise<void>>();

  constructor(options: OwnershipOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#renewAll(), options.ttlMs / 3).unref();
  }

  /** The lease under which this server owns a session. */
  leaseOf(sessionId: string): Lease | undefined {
    return this.#leases.get(sessionId);
  }

  get owned(): string[] {
    return [...this.#leases.keys()];
  }

  /** Whether nobody has taken the session since; nobody can then for as long as a lease lasts. */
  async confirm(sessionId: string): Promise<boolean> {
    const lease = this.#leases.get(sessionId);
    return lease !== undefined && this.#options.leases.renew(lease, this.#options.ttlMs);
  }

  /** Takes a session that nobody owns; undefined if another does. */
  async take(sessionId: string): Promise<Lease | undefined> {
    const { leases, instanceId, ttlMs } = this.#options;
    const lease = await leases.acquire(leaseName(sessionId), instanceId, ttlMs);
    if (lease) this.#leases.set(sessionId, lease);
    return lease;
  }

  /** Which server owns it now. */
  async ownerOf(sessionId: string): Promise<string | undefined> {
    return (await this.ownersOf([sessionId])).get(sessionId);
  }

  /** Which servers own these now; a session that nobody owns is missing. */
  async ownersOf(sessionIds: readonly string[]): Promise<Map<string, string>> {
    const held = await this.#options.leases.holders(sessionIds.map(leaseName));
    return new Map(
      sessionIds.flatMap((sessionId) => {
        const lease = held.get(leaseName(sessionId));
        return lease ? [[sessionId, lease.holder] as const] : [];
      }),
    );
  }

  /** Lets a session go, which nothing of this server works on any more. */
  async release(sessionId: string): Promise<void> {
    const lease = this.#leases.get(sessionId);
    this.#leases.delete(sessionId);
    if (lease) await this.#options.leases.release(lease);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#renewing.values());
    await Promise.allSettled(this.owned.map((sessionId) => this.release(sessionId)));
  }

  #renewAll(): void {
    for (const [sessionId, lease] of this.#leases) {
      if (this.#renewing.has(lease)) continue;
      const renewed = this.#renew(sessionId, lease).finally(() => this.#renewing.delete(lease));
      this.#renewing.set(lease, renewed);
    }
  }

  async #renew(sessionId: string, lease: Lease): Promise<void> {
    const { leases, ttlMs, onLost, onTrouble } = this.#options;
    try {
      if (await leases.renew(lease, ttlMs)) return;
    } catch (error) {
      return onTrouble(error);
    }
    // It may have been let go meanwhile, or taken again.
    if (this.#leases.get(sessionId) !== lease) return;
    this.#leases.delete(sessionId);
    onLost(sessionId);
  }
}
