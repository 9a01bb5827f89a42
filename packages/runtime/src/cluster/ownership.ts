import { uptime } from 'node:os';
import type { Lease, Leases, ResponseStore } from '@liminal/storage';

/**
 * The lifetime of a lease, as a share of the time within which a dead server's turns end; the rest is for noticing the
 * death and for ending the turns.
 */
export const TTL_SHARE = 0.4;
/** The share of a lease's lifetime for which its holder counts on it: then its agents end, before another can take it. */
const SURE_SHARE = 0.9;
const RENEWALS_PER_TTL = 5;

interface OwnershipOptions {
  leases: Leases;
  /** Where the next owner of a session leaves its mark: asked while leases cannot be renewed. */
  store: Pick<ResponseStore, 'getSession' | 'findDeleted'>;
  /** This server's name among the others. */
  instanceId: string;
  /** How long a lease lasts if it is not renewed, in ms: that long after its owner's death a session has no owner. */
  ttlMs: number;
  /** Another server has taken the session. */
  onLost: (sessionId: string) => void;
  /** The leases cannot be renewed right now. */
  onTrouble: (error: unknown) => void;
  /** Ends all agents of this server at this moment unless it is called again; see `RuntimeOptions.endAgentsAt`. */
  endAgentsAt?: ((atMs: number | undefined) => void) | undefined;
}

/** ms, on a clock that nobody sets, and that runs while the machine is suspended. */
const upMs = (): number => uptime() * 1000;

/** The name of a session's lease. */
function leaseName(sessionId: string): string {
  return `session:${sessionId}`;
}

/**
 * The sessions that this server owns, by a lease each, renewed while it is owned. While the leases cannot be renewed the
 * store is asked whether another server has taken a session. A server that can ask neither, or is suspended, has its
 * agents ended; the log and the store refuse its writes if another server has taken over.
 */
export class Ownership {
  readonly #options: OwnershipOptions;
  readonly #leases = new Map<string, Lease>();
  /** Until when nobody else can take a lease, on the clock of `upMs`. */
  readonly #sureUntil = new WeakMap<Lease, number>();
  /** Until when its agent may run: longer, if by the store nobody had taken the session when it was last asked. */
  readonly #agentUntil = new WeakMap<Lease, number>();
  /** What was last passed to `endAgentsAt`. */
  #agentsEndAt: number | undefined;
  #isReporting = false;
  readonly #timer: NodeJS.Timeout;
  /** One renewal per lease: a slow one does not delay the others. */
  readonly #renewing = new Map<Lease, Promise<void>>();
  readonly #askingStore = new Set<Lease>();
  #isClosed = false;

  constructor(options: OwnershipOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#renewAll(), options.ttlMs / RENEWALS_PER_TTL).unref();
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
    if (lease && upMs() < (this.#sureUntil.get(lease) ?? 0)) return true;
    return this.confirm(sessionId);
  }

  /** Takes a session without an owner; undefined if another server owns it. */
  async take(sessionId: string): Promise<Lease | undefined> {
    const { leases, instanceId, ttlMs } = this.#options;
    const askedAt = upMs();
    const lease = await leases.acquire(leaseName(sessionId), instanceId, ttlMs);
    if (!lease) return undefined;
    this.#leases.set(sessionId, lease);
    this.#isSure(lease, askedAt);
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

  /** If Redis is away for all, nobody can take the session, and the agent works on; if only for this server, others can. */
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
      this.#agentUntil.set(lease, askedAt + ttlMs * SURE_SHARE);
      this.#reportSoon();
    } catch (error) {
      if (!this.#isClosed) onTrouble(error);
    } finally {
      this.#askingStore.delete(lease);
    }
  }

  #lose(sessionId: string, lease: Lease): void {
    // It may have been released meanwhile, or taken again.
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
    const until = askedAt + this.#options.ttlMs * SURE_SHARE;
    this.#sureUntil.set(lease, until);
    this.#agentUntil.set(lease, until);
    this.#reportSoon();
  }

  /** Once for all answers that come together. */
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
