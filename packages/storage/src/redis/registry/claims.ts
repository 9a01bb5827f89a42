import { type Announced, announcedIn, group } from '../log/index.ts';
import { isReply, type Keys, type RedisLink, scripts } from '../connection/index.ts';
import type { StreamEntry } from '../streams/index.ts';

/** How many claims are checked in one step when claims of dead workers are assigned to a live worker. */
const pageSize = 100;

/** The workers' claims on runs: the consumer group of the registry. Each method is one command. */
export class Claims {
  readonly #link: RedisLink;
  readonly #keys: Keys;

  constructor(link: RedisLink, keys: Keys) {
    this.#link = link;
    this.#keys = keys;
  }

  /** Creates the group, unless it exists. */
  async prepare(): Promise<void> {
    try {
      await this.#link.call('XGROUP', 'CREATE', this.#keys.runs, group, '0', 'MKSTREAM');
    } catch (error) {
      if (!isReply(error, 'BUSYGROUP')) throw error;
    }
  }

  /** The id of the newest entry; watching begins after this entry. */
  async newestEntryId(): Promise<string> {
    const reply = await this.#link.call('XREVRANGE', this.#keys.runs, '+', '-', 'COUNT', 1);
    return (reply as StreamEntry[])[0]?.[0] ?? '0-0';
  }

  /** Claims a run that no worker has claimed; resolves with undefined if there is no such run. */
  async next(worker: string): Promise<Announced | undefined> {
    const how = ['GROUP', group, worker, 'COUNT', 1, 'STREAMS', this.#keys.runs, '>'];
    const reply = (await this.#link.call('XREADGROUP', ...how)) as [string, StreamEntry[]][] | null;
    const entry = reply?.[0]?.[1][0];
    return entry && announcedIn(entry);
  }

  /** Claims the runs of workers that have been silent for this long. */
  async takeOver(worker: string, idleMs: number): Promise<Announced[]> {
    const taken: Announced[] = [];
    let cursor = '0-0';
    do {
      const how = [group, worker, idleMs, cursor, 'COUNT', pageSize];
      const reply = await this.#link.call('XAUTOCLAIM', this.#keys.runs, ...how);
      const [next, entries] = reply as [string, (StreamEntry | null)[]];
      for (const entry of entries) {
        // For a deleted entry, Redis 6 returns null.
        if (entry?.[1]) taken.push(announcedIn(entry));
      }
      cursor = next;
    } while (cursor !== '0-0');
    return taken;
  }

  /**
   * Renews all claims of this worker and returns them. The result includes claims that this worker does not know,
   * because the answer to its claim was lost.
   */
  async renewAll(worker: string): Promise<Announced[]> {
    const reply = await this.#link.run(scripts.keep, [this.#keys.runs], [group, worker]);
    return (reply as StreamEntry[]).map(announcedIn);
  }

  /** Removes workers that have no claims and have been silent for this long. */
  async removeIdleWorkers(idleMs: number): Promise<void> {
    await this.#link.run(scripts.bury, [this.#keys.runs], [group, idleMs]);
  }

  /** Releases this worker's claims, so that other workers can claim the runs. */
  async releaseAll(worker: string): Promise<void> {
    const keys = [this.#keys.runs, this.#keys.announced];
    await this.#link.run(scripts.letGo, keys, [group, worker]);
  }
}
