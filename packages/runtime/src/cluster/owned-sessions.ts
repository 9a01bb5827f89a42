import { setTimeout as delay } from 'node:timers/promises';
import type { Lease } from '@liminal/storage';
import { recoverSession, type Storage } from '../history/index.ts';
import type { SessionRuntime } from '../runtime.ts';
import type { Session } from '../session/index.ts';
import type { Ownership } from './ownership.ts';

interface OwnedSessionsOptions {
  storage: Storage;
  ownership: Ownership;
  runtime: SessionRuntime;
  /** The current time, ISO 8601 UTC. */
  now: () => string;
  onTrouble: (error: unknown) => void;
}

/** The time between two checks for owned sessions that are idle, in ms. */
const sweepMs = 1_000;

/** The sessions that this server owns. Idle sessions are released, so that any server can take them. */
export class OwnedSessions {
  readonly #options: OwnedSessionsOptions;
  /** Sessions that are being taken or released; other callers wait. */
  readonly #changing = new Map<string, Promise<unknown>>();
  /** The number of running commands by session. */
  readonly #busy = new Map<string, number>();
  readonly #closing = new AbortController();
  readonly #sweeping: Promise<void>;

  constructor(options: OwnedSessionsOptions) {
    this.#options = options;
    this.#sweeping = this.#sweepAgainAndAgain();
  }

  /**
   * Runs a step as the session's owner, and takes the session first if it has no owner. Resolves with undefined if
   * another server owns the session.
   */
  async act<T>(
    sessionId: string,
    step: (lease: Lease) => Promise<T>,
  ): Promise<{ value: T } | undefined> {
    return this.#whileBusy(sessionId, async () => {
      const lease = await this.#take(sessionId);
      return lease && { value: await step(lease) };
    });
  }

  /** Runs a step if this server already owns the session; otherwise resolves with undefined. */
  async actAsOwner<T>(
    sessionId: string,
    step: () => Promise<T>,
  ): Promise<{ value: T } | undefined> {
    return this.#whileBusy(sessionId, async () => {
      await this.#changing.get(sessionId)?.catch(() => undefined);
      const isOurs = this.#options.ownership.leaseOf(sessionId) !== undefined;
      return isOurs ? { value: await step() } : undefined;
    });
  }

  /** Prevents the release of the session while the work runs. */
  async #whileBusy<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
    this.#busy.set(sessionId, (this.#busy.get(sessionId) ?? 0) + 1);
    try {
      return await work();
    } finally {
      const left = (this.#busy.get(sessionId) ?? 1) - 1;
      if (left > 0) this.#busy.set(sessionId, left);
      else this.#busy.delete(sessionId);
    }
  }

  /** Ends the agent and the turn on this server for a session that another server has taken, or may have taken. */
  async lost(sessionId: string): Promise<void> {
    await this.#change(sessionId, async () => {
      (await this.#inMemory(sessionId))?.loseTurn();
      await this.#forget(sessionId);
    });
  }

  /** Stops looking for idle sessions. To release the owned sessions, close the runtime and then the ownership. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#sweeping;
  }

  async #take(sessionId: string): Promise<Lease | undefined> {
    await this.#changing.get(sessionId)?.catch(() => undefined);
    const owned = this.#options.ownership.leaseOf(sessionId);
    return owned ?? this.#change(sessionId, () => this.#adopt(sessionId));
  }

  async #change<T>(sessionId: string, step: () => Promise<T>): Promise<T> {
    const before = this.#changing.get(sessionId) ?? Promise.resolve();
    const changing = before.catch(() => undefined).then(step);
    this.#changing.set(sessionId, changing);
    try {
      return await changing;
    } finally {
      if (this.#changing.get(sessionId) === changing) this.#changing.delete(sessionId);
    }
  }

  /** Takes a session without an owner, and ends the turns that its last owner may have left open. */
  async #adopt(sessionId: string): Promise<Lease | undefined> {
    const { ownership, storage, now } = this.#options;
    const owned = ownership.leaseOf(sessionId);
    if (owned) return owned;
    const lease = await ownership.take(sessionId);
    if (!lease) return undefined;
    try {
      await recoverSession(storage, sessionId, lease.token, now);
      return lease;
    } catch (error) {
      await ownership.release(sessionId);
      throw error;
    }
  }

  async #sweepAgainAndAgain(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await delay(sweepMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted) await this.#sweep().catch(this.#options.onTrouble);
    }
  }

  async #sweep(): Promise<void> {
    const { ownership, runtime } = this.#options;
    const sessions = await runtime.sessions.inMemory();
    const inUse = new Set(
      sessions.filter((session) => session.isInUse).map(({ sessionId }) => sessionId),
    );
    for (const sessionId of ownership.owned) {
      if (inUse.has(sessionId) || this.#busy.has(sessionId)) continue;
      await this.#change(sessionId, () => this.#release(sessionId));
    }
  }

  /** Releases a session without a turn, and ends its agent. Returns whether another server may take the session now. */
  async releaseIdle(sessionId: string): Promise<boolean> {
    await this.#change(sessionId, () => this.#release(sessionId, ({ isIdle }) => isIdle));
    return this.#options.ownership.leaseOf(sessionId) === undefined;
  }

  async #release(
    sessionId: string,
    isFree = ({ isInUse }: Session): boolean => !isInUse,
  ): Promise<void> {
    const session = await this.#inMemory(sessionId);
    // In the meantime, a command may have arrived, or may have started work.
    if (this.#busy.has(sessionId) || (session && !isFree(session))) return;
    await this.#forget(sessionId);
    await this.#options.ownership.release(sessionId);
  }

  async #forget(sessionId: string): Promise<void> {
    const session = await this.#inMemory(sessionId);
    if (!session) return;
    await session.shutDown();
    await this.#options.runtime.sessions.release(session);
  }

  async #inMemory(sessionId: string): Promise<Session | undefined> {
    const known = await this.#options.runtime.sessions.inMemory();
    return known.find((one) => one.sessionId === sessionId);
  }
}
