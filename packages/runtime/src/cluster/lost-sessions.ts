import { setTimeout as delay } from 'node:timers/promises';
import type { EventLog } from '@liminal/storage';
import type { Ownership } from './ownership.ts';

interface LostSessionsOptions {
  log: EventLog;
  ownership: Ownership;
  everyMs: number;
  /** Ends what the lost owner has left open. */
  recover: (sessionId: string) => Promise<void>;
  onTrouble: (error: unknown) => void;
}

/** How often it is looked, as a part of the time within which a dead server's turns are over. */
export const LOOK_SHARE = 0.1;
/** These take longer than an owner that lives takes to renew its lease. */
const LOOKS = 3;

/**
 * Looks for sessions whose turn is under way and whose owner is gone, so that no turn hangs for ever. A session must
 * be found without an owner several times in a row: one whose lease ran out while the leases could not be reached is
 * its owner's again in between.
 */
export class LostSessions {
  readonly #options: LostSessionsOptions;
  readonly #closing = new AbortController();
  readonly #looking: Promise<void>;
  /** How often in a row each was found without an owner. */
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
    const owners = await ownership.ownersOf(sessionIds);
    const ownerless = sessionIds.filter((sessionId) => !owners.has(sessionId));
    this.#suspected = new Map(
      ownerless.map((sessionId) => [sessionId, (this.#suspected.get(sessionId) ?? 0) + 1]),
    );
    for (const [sessionId, looks] of this.#suspected) if (looks >= LOOKS) await recover(sessionId);
  }
}
