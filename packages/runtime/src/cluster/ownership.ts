import type { Lease, Leases } from '@liminal/storage';

/**
 * The lifetime of a lease, as a share of the time within which a dead server's turns end; the rest is for noticing the
 * death and for ending the turns.
 */
export const TTL_SHARE = 0.4;

interface OwnershipOptions {
  leases: Leases;
  /** This server's name among the others. */
  instanceId: string;
  /** How long a lease lasts if it is not renewed, in ms: that long after its owner's death a session has no owner. */
  ttlMs: number;
  /** Another server has taken the session. */
  onLost: (sessionId: string) => void;
  /** The leases cannot be renewed right now. */
  onTrouble: (error: unknown) => void;
}

/** The name of a session's lease. */
function leaseName(sessionId: string): string {
  return `session:${sessionId}`;
}

/**
 * The sessions that this server owns, by a lease each, renewed while it is owned. A server that is cut off goes on, and
 * the log and the store refuse its writes if another server has taken over.
 */
export class Ownership {
  readonly #options: OwnershipOptions;
  readonly #leases = new Map<string, Lease>();
  /** Until when nobody else can take a lease: `ttlMs` from when it was last asked for, on the clock of `performance.now()`. */
  readonly #sureUntil = new WeakMap<Lease, number>();
  readonly #timer: NodeJS.Timeout;
  /** One renewal per lease: a slow one does not delay the others. */
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

  /** Renews the lease. False if another server may have taken the session; otherwise none can for `ttlMs`. */
  async confirm(sessionId: string): Promise<boolean> {
    const lease = this.#leases.get(sessionId);
    return lease !== undefined && this.#renewLease(lease);
  }

  /**
   * False if another server may have taken the session, as after this server was suspended. Asks only if the last renewal
   * was too long ago; rejects if that is unknown now.
   */
  async holds(sessionId: string): Promise<boolean> {
    const lease = this.#leases.get(sessionId);
    if (lease && performance.now() < (this.#sureUntil.get(lease) ?? 0)) return true;
    return this.confirm(sessionId);
  }

  /** Takes a session without an owner; undefined if another server owns it. */
  async take(sessionId: string): Promise<Lease | undefined> {
    const { leases, instanceId, ttlMs } = this.#options;
    const askedAt = performance.now();
    const lease = await leases.acquire(leaseName(sessionId), instanceId, ttlMs);
    if (!lease) return undefined;
    this.#sureUntil.set(lease, askedAt + ttlMs);
    this.#leases.set(sessionId, lease);
    return lease;
  }

  /** The server that owns a session now. */
  async ownerOf(sessionId: string): Promise<string | undefined> {
    return (await this.leasesOf([sessionId])).get(sessionId)?.holder;
  }

  /** The leases under which servers own these sessions now; sessions without an owner are missing. */
  async leasesOf(sessionIds: readonly string[]): Promise<Map<string, Lease>> {
    const held = await this.#options.leases.holders(sessionIds.map(leaseName));
    return new Map(
      sessionIds.flatMap((sessionId) => {
        const lease = held.get(leaseName(sessionId));
        return lease ? [[sessionId, lease] as const] : [];
      }),
    );
  }

  /** Releases an idle session. */
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
    const { onLost, onTrouble } = this.#options;
    try {
      if (await this.#renewLease(lease)) return;
    } catch (error) {
      return onTrouble(error);
    }
    // It may have been released meanwhile, or taken again.
    if (this.#leases.get(sessionId) !== lease) return;
    this.#leases.delete(sessionId);
    onLost(sessionId);
  }

  async #renewLease(lease: Lease): Promise<boolean> {
    const { leases, ttlMs } = this.#options;
    const askedAt = performance.now();
    const isOurs = await leases.renew(lease, ttlMs);
    if (isOurs) this.#sureUntil.set(lease, askedAt + ttlMs);
    return isOurs;
  }
}
