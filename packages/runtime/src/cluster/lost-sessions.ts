import { setTimeout as delay } from 'node:timers/promises';
import type { EventLog } from '@liminal/storage';
import type { Ownership } from './ownership.ts';

interface LostSessionsOptions {
  log: EventLog;
  ownership: Ownership;
  everyMs: number;
  /** Ends the turns that the lost owner left open. */
  recover: (sessionId: string) => Promise<void>;
  onTrouble: (error: unknown) => void;
}

/** The time between two checks, as a share of the time within which a dead server's turns must end. */
export const lookShare = 0.1;
/**
 * The number of checks in a row after which a session counts as lost. These checks take longer than a live owner needs
 * to renew its lease.
 */
const maxLooks = 3;

/**
 * Finds sessions that have an open turn but no owner, so that no turn hangs. A session counts as lost only if several
 * checks in a row find no owner: if the lease store was unreachable, a live owner gets its lease again between the
 * checks.
 */
export class LostSessions {
  readonly #options: LostSessionsOptions;
  readonly #closing = new AbortController();
  readonly #looking: Promise<void>;
  /** For each session without an owner, the number of checks in a row that found no owner. */
  #suspected = new Map<string, number>();

  constructor(options: LostSessionsOptions) {
    this.#options = options;
    this.#looking = this.#lookAgainAndAgain();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#looking;
  }

  async #lookAgainAndAgain(): Promise<void> {
    const { everyMs, onTrouble } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.#look().catch((error) => {
        this.#suspected.clear();
        onTrouble(error);
      });
      await delay(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #look(): Promise<void> {
    const { log, ownership, recover } = this.#options;
    const open = (await log.unsettled()).filter((run) => !run.ended);
    const sessionIds = [...new Set(open.map(({ sessionId }) => sessionId))];
    const leases = await ownership.leasesOf(sessionIds);
    const ownerless = sessionIds.filter((sessionId) => !leases.has(sessionId));
    this.#suspected = new Map(
      ownerless.map((sessionId) => [sessionId, (this.#suspected.get(sessionId) ?? 0) + 1]),
    );
    for (const [sessionId, looks] of this.#suspected)
      if (looks >= maxLooks) await recover(sessionId);
  }
}
