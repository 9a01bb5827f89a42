import { type Keys, type RedisLink, scripts } from '../connection/index.ts';
import type { StreamEntry } from '../streams/index.ts';

/** The consumer group by which projectors share the runs (seed 001). */
export const group = 'codex-projector-group';

/** A run in the registry. */
export interface Announced {
  runId: string;
  sessionId: string;
}

/** The number of entries that are read at once. */
const pageSize = 1_000;

/** The registry of runs that are not settled: a stream, oldest first. */
export class Announcements {
  readonly #link: RedisLink;
  readonly #keys: Keys;

  constructor(link: RedisLink, keys: Keys) {
    this.#link = link;
    this.#keys = keys;
  }

  /** Adds a run to the registry. If the run is already in the registry, does nothing. */
  async announce(runId: string, sessionId: string): Promise<void> {
    await this.#link.run(scripts.announce, this.#pair, [runId, sessionId]);
  }

  /** Removes a run, even if a worker has claimed it. */
  async retire(runId: string): Promise<void> {
    await this.#link.run(scripts.retire, this.#pair, [group, runId]);
  }

  async all(): Promise<Announced[]> {
    const announced: Announced[] = [];
    let from = '-';
    for (;;) {
      const reply = await this.#link.call('XRANGE', this.#keys.runs, from, '+', 'COUNT', pageSize);
      const entries = reply as StreamEntry[];
      announced.push(...entries.map(announcedIn));
      const last = entries.at(-1);
      if (last === undefined || entries.length < pageSize) return announced;
      from = `(${last[0]}`;
    }
  }

  get #pair(): string[] {
    return [this.#keys.runs, this.#keys.announced];
  }
}

export function announcedIn([, fields]: StreamEntry): Announced {
  const [, runId = '', , sessionId = ''] = fields;
  return { runId, sessionId };
}
