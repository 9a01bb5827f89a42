import { type Keys, RedisLink } from '../connection/index.ts';
import type { StreamEntry } from './rows.ts';

/** An entry as Redis returns it, with its fields by name. */
export interface RunEntry {
  id: string;
  fields: Record<string, string>;
}

/** The number of entries that are read at once. */
const pageSize = 256;
/** How long one command waits for entries, ms. */
const waitMs = 1_000;

/** A run’s stream as programs in any language read it: with plain XREAD, and without using other code of the log. */
export class RunEntries {
  readonly #link: RedisLink;
  readonly #keys: Keys;
  readonly #runId: string;

  private constructor(link: RedisLink, keys: Keys, runId: string) {
    this.#link = link;
    this.#keys = keys;
    this.#runId = runId;
  }

  /** Throws StorageError `REDIS_UNAVAILABLE`. */
  static async open(url: string, keys: Keys, runId: string): Promise<RunEntries> {
    return new RunEntries(await RedisLink.open(url), keys, runId);
  }

  /** The stream’s name. */
  get key(): string {
    return this.#keys.events(this.#runId);
  }

  /**
   * Yields the entries from the first entry on, when they arrive, until `signal` aborts. Throws ioredis's error if the
   * connection to Redis is lost.
   */
  async *pages(signal: AbortSignal): AsyncGenerator<RunEntry[], void> {
    const connection = this.#link.reader(this.key);
    const stop = () => this.#link.end(connection);
    signal.addEventListener('abort', stop);
    try {
      for (let last = '0'; !signal.aborted;) {
        const how = ['COUNT', pageSize, 'BLOCK', waitMs, 'STREAMS', this.key, last];
        const [reply] = ((await connection.call('XREAD', ...how)) ?? []) as [
          string,
          StreamEntry[],
        ][];
        const entries = reply?.[1] ?? [];
        last = entries.at(-1)?.[0] ?? last;
        if (entries.length > 0)
          yield entries.map(([id, fields]) => ({ id, fields: byName(fields) }));
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
    }
  }

  /**
   * Removes the data that programs read of a run (its event stream and its upserts) before the data expires by itself.
   * Call this method only for a settled run. Throws StorageError `REDIS_UNAVAILABLE`.
   */
  async remove(): Promise<void> {
    await this.#link.call('UNLINK', this.key, this.#keys.run(this.#runId));
    await this.#link.call('UNLINK', this.#keys.upserts(this.#runId));
  }

  close(): void {
    this.#link.close();
  }
}

/** The fields by name; Redis returns names and values alternately. */
function byName(fields: readonly string[]): Record<string, string> {
  const names = fields.filter((_, at) => at % 2 === 0);
  return Object.fromEntries(names.map((name, at) => [name, fields[2 * at + 1] ?? '']));
}
