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

/**
 * Looks for sessions whose turn is under way and whose owner is gone, so that no turn hangs for ever. A session must
 * be found without an owner twice in a row: one whose lease ran out while the leases could not be reached is its
 * owner's again in between.
 */
export class LostSessions {
  readonly #options: LostSessionsOptions;
  readonly #closing = new AbortController();
  readonly #looking: Promise<void>;
  #suspected = new Set<string>();

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
    const ownerless = new Set(sessionIds.filter((sessionId) => !owners.has(sessionId)));
    const lost = ownerless.intersection(this.#suspected);
    this.#suspected = ownerless;
    for (const sessionId of lost) await recover(sessionId);
  }
}
