import { uptime } from 'node:os';
import type { Lease, Leases, ResponseStore } from '@liminal/storage';

/**
 * The lifetime of a lease, as a share of the time within which a dead server's turns must end. The remaining time is
 * for noticing the death and for ending the turns.
 */
export const ttlShare = 0.4;
/**
 * The share of a lease's lifetime during which its holder relies on it. After that share, the holder's agents end,
 * before another server can take the lease.
 */
const sureShare = 0.9;
const renewalsPerTtl = 5;

interface OwnershipOptions {
  leases: Leases;
  /** The store, which records a session's next owner. This server asks the store while leases cannot be renewed. */
  store: Pick<ResponseStore, 'getSession' | 'findDeleted'>;
  /** This server's name among the servers. */
  instanceId: string;
  /** How long a lease lasts without renewal, in ms. For this time after its owner's death, a session has no owner. */
  ttlMs: number;
  /** Called when another server has taken the session. */
  onLost: (sessionId: string) => void;
  /** Called when the leases cannot be renewed. */
  onTrouble: (error: unknown) => void;
  /** Ends all agents of this server at the given time unless it is called again; see `RuntimeOptions.endAgentsAt`. */
  endAgentsAt?: ((atMs: number | undefined) => void) | undefined;
}

/** Ms on a clock that cannot be set, and that also runs while the machine is suspended. */
const upMs = (): number => uptime() * 1000;

/** Returns the name of a session's lease. */
function leaseName(sessionId: string): string {
  return `session:${sessionId}`;
}

/**
 * The sessions that this server owns, each by a lease that is renewed while the session is owned. While leases cannot
 * be renewed, the store is asked whether another server has taken a session. If this server reaches neither leases
 * nor store, or is suspended, its agents are ended; if another server has taken over, the log and the store reject
 * this server's writes.
 */
export class Ownership {
  readonly #options: OwnershipOptions;
  readonly #leases = new Map<string, Lease>();
  /** The time until which no other server can take a lease, on the clock of `upMs`. */
  readonly #sureUntil = new WeakMap<Lease, number>();
  /**
   * The time until which the session's agent may run. It is later than `#sureUntil` if the store's last answer
   * contained no other owner.
   */
  readonly #agentUntil = new WeakMap<Lease, number>();
  /** The time that was last passed to `endAgentsAt`. */
  #agentsEndAt: number | undefined;
  #isReporting = false;
  readonly #timer: NodeJS.Timeout;
  /** The running renewal of each lease. A slow renewal does not delay the renewals of other leases. */
  readonly #renewing = new Map<Lease, Promise<void>>();
  readonly #askingStore = new Set<Lease>();
  #isClosed = false;

  constructor(options: OwnershipOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#renewAll(), options.ttlMs / renewalsPerTtl).unref();
  }

  /** Returns the lease under which this server owns a session. */
  leaseOf(sessionId: string): Lease | undefined {
    return this.#leases.get(sessionId);
  }

  get owned(): string[] {
    return [...this.#leases.keys()];
  }

  /**
   * Renews the lease. Returns true if no other server can take the session for `ttlMs`; false if another server may
   * have taken it.
   */
  async confirm(sessionId: string): Promise<boolean> {
    const lease = this.#leases.get(sessionId);
    return lease !== undefined && this.#renewLease(lease);
  }

  /**
   * Returns false if another server may have taken the session, for example after this server was suspended. Renews
   * the lease only if the last renewal is too old; rejects if Redis cannot answer now.
   */
  async holds(sessionId: string): Promise<boolean> {
    const lease = this.#leases.get(sessionId);
    if (lease && upMs() < (this.#sureUntil.get(lease) ?? 0)) return true;
    return this.confirm(sessionId);
  }

  /** Takes a session without an owner; resolves with undefined if another server owns the session. */
  async take(sessionId: string): Promise<Lease | undefined> {
    const { leases, instanceId, ttlMs } = this.#options;
    const askedAt = upMs();
    const lease = await leases.acquire(leaseName(sessionId), instanceId, ttlMs);
    if (!lease) return undefined;
    this.#leases.set(sessionId, lease);
    this.#isSure(lease, askedAt);
    return lease;
  }

  /** Returns the server that owns a session at present. */
  async ownerOf(sessionId: string): Promise<string | undefined> {
    return (await this.leasesOf([sessionId])).get(sessionId)?.holder;
  }

  /** The leases under which servers own these sessions now; sessions without an owner are left out. */
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
    this.#reportSoon();
    if (lease) await this.#options.leases.release(lease);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await Promise.all(this.#renewing.values());
    await Promise.allSettled(this.owned.map((sessionId) => this.release(sessionId)));
  }

  #renewAll(): void {
    for (const [sessionId, lease] of this.#leases) {
      if (this.#renewing.has(lease)) {
        void this.#askStore(sessionId, lease);
        continue;
      }
      const renewed = this.#renew(sessionId, lease).finally(() => this.#renewing.delete(lease));
      this.#renewing.set(lease, renewed);
    }
  }

  async #renew(sessionId: string, lease: Lease): Promise<void> {
    try {
      if (!(await this.#renewLease(lease))) this.#lose(sessionId, lease);
    } catch (error) {
      this.#options.onTrouble(error);
      void this.#askStore(sessionId, lease);
    }
  }

  /**
   * Lets the session's agent continue if the store has no other owner. If Redis is down for all servers, no server
   * can take the session; if only this server cannot reach Redis, another server can.
   */
  async #askStore(sessionId: string, lease: Lease): Promise<void> {
    if (this.#askingStore.has(lease)) return;
    this.#askingStore.add(lease);
    const { store, onTrouble, ttlMs } = this.#options;
    const askedAt = upMs();
    try {
      const record = await store.getSession(sessionId);
      const isLost = record
        ? record.fence > lease.token
        : (await store.findDeleted([sessionId])).length > 0;
      if (isLost) return this.#lose(sessionId, lease);
      this.#agentUntil.set(lease, askedAt + ttlMs * sureShare);
      this.#reportSoon();
    } catch (error) {
      if (!this.#isClosed) onTrouble(error);
    } finally {
      this.#askingStore.delete(lease);
    }
  }

  #lose(sessionId: string, lease: Lease): void {
    // In the meantime, the lease may have been released, or acquired again.
    if (this.#leases.get(sessionId) !== lease) return;
    this.#leases.delete(sessionId);
    this.#reportSoon();
    this.#options.onLost(sessionId);
  }

  async #renewLease(lease: Lease): Promise<boolean> {
    const { leases, ttlMs } = this.#options;
    const askedAt = upMs();
    const isOurs = await leases.renew(lease, ttlMs);
    if (isOurs) this.#isSure(lease, askedAt);
    return isOurs;
  }

  #isSure(lease: Lease, askedAt: number): void {
    const until = askedAt + this.#options.ttlMs * sureShare;
    this.#sureUntil.set(lease, until);
    this.#agentUntil.set(lease, until);
    this.#reportSoon();
  }

  /** Reports the new time once, after all renewals of the current tick. */
  #reportSoon(): void {
    if (this.#isReporting) return;
    this.#isReporting = true;
    setImmediate(() => {
      this.#isReporting = false;
      const ends = [...this.#leases.values()].map((lease) => this.#agentUntil.get(lease) ?? 0);
      const endAt = ends.length > 0 ? Math.min(...ends) : undefined;
      if (endAt === this.#agentsEndAt) return;
      this.#agentsEndAt = endAt;
      this.#options.endAgentsAt?.(endAt);
    });
  }
}
