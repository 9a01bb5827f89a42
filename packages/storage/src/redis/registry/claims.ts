import { type Announced, announcedIn, GROUP } from '../log/index.ts';
import { isReply, type Keys, type RedisLink, scripts } from '../connection/index.ts';
import type { StreamEntry } from '../streams/index.ts';

/** Claims that are looked at in one step when those of the dead are taken over. */
const PAGE = 100;

/** Who works on which announced run: the consumer group of the registry. Each method is what its command is. */
export class Claims {
  readonly #link: RedisLink;
  readonly #keys: Keys;

  constructor(link: RedisLink, keys: Keys) {
    this.#link = link;
    this.#keys = keys;
  }

  /** Makes the group; one that exists stays as it is. */
  async prepare(): Promise<void> {
    try {
      await this.#link.call('XGROUP', 'CREATE', this.#keys.runs, GROUP, '0', 'MKSTREAM');
    } catch (error) {
      if (!isReply(error, 'BUSYGROUP')) throw error;
    }
  }

  /** The id of the newest entry, after which there will be news. */
  async newest(): Promise<string> {
    const reply = await this.#link.call('XREVRANGE', this.#keys.runs, '+', '-', 'COUNT', 1);
    return (reply as StreamEntry[])[0]?.[0] ?? '0-0';
  }

  /** A run that nobody has claimed yet. */
  async next(worker: string): Promise<Announced | undefined> {
    const how = ['GROUP', GROUP, worker, 'COUNT', 1, 'STREAMS', this.#keys.runs, '>'];
    const reply = (await this.#link.call('XREADGROUP', ...how)) as [string, StreamEntry[]][] | null;
    const entry = reply?.[0]?.[1][0];
    return entry && announcedIn(entry);
  }

  /** The runs of workers that have not been heard of for so long, which are this worker's now. */
  async takeOver(worker: string, idleMs: number): Promise<Announced[]> {
    const taken: Announced[] = [];
    let cursor = '0-0';
    do {
      const how = [GROUP, worker, idleMs, cursor, 'COUNT', PAGE];
      const reply = await this.#link.call('XAUTOCLAIM', this.#keys.runs, ...how);
      const [next, entries] = reply as [string, (StreamEntry | null)[]];
      for (const entry of entries) {
        // Redis 6 gives nothing for an entry that has been deleted.
        if (entry?.[1]) taken.push(announcedIn(entry));
      }
      cursor = next;
    } while (cursor !== '0-0');
    return taken;
  }

  /** This worker still works on all it has claimed, which is given: also what it was never told of. */
  async keep(worker: string): Promise<Announced[]> {
    const reply = await this.#link.run(scripts.keep, [this.#keys.runs], [GROUP, worker]);
    return (reply as StreamEntry[]).map(announcedIn);
  }

  /** Forgets workers that have nothing claimed and have not been heard of for so long. */
  async bury(idleMs: number): Promise<void> {
    await this.#link.run(scripts.bury, [this.#keys.runs], [GROUP, idleMs]);
  }

  /** What this worker has claimed is for others now. */
  async letGo(worker: string): Promise<void> {
    const keys = [this.#keys.runs, this.#keys.announced];
    await this.#link.run(scripts.letGo, keys, [GROUP, worker]);
  }
}
