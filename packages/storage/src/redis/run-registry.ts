import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunClaim, RunRegistry } from '../coordination.ts';
import { StorageError } from '../errors.ts';
import type { Announced, Announcements } from './announcements.ts';
import { Bell } from './bell.ts';
import type { Claims } from './claims.ts';
import { isReply } from './failures.ts';
import type { RunStreams } from './run-streams.ts';
import type { StreamReader } from './stream-reader.ts';

export interface RegistryOptions {
  /** A claim whose worker has not been heard of for so long goes to another, ms. */
  claimIdleMs: number;
  /** How many of its newest events a run keeps, whatever is projected. */
  maxLength: number;
}

interface Parts {
  announcements: Announcements;
  claims: Claims;
  streams: RunStreams;
  reader: StreamReader;
  /** The name of the stream of announcements. */
  runsKey: string;
}

/** How long to wait before Redis is asked again after it refused, ms. */
const RETRY_MS = 300;
/** How often it is looked for the events of a run that was announced without any, and how long in all, ms. */
const UNBORN = { everyMs: 500, forMs: 60_000 };

export class RedisRunRegistry implements RunRegistry {
  readonly #parts: Parts;
  readonly #options: RegistryOptions;
  /** The workers here, each with what wakes it. */
  readonly #workers = new Map<string, Bell>();
  #stopWatching: (() => void) | undefined;
  #closed = false;

  constructor(parts: Parts, options: RegistryOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  async *claims(worker: string, signal: AbortSignal): AsyncGenerator<RunClaim, void> {
    // A worker that comes back under its old name is another one: it knows nothing of what it had claimed.
    const consumer = `${worker}:${randomUUID()}`;
    const bell = new Bell();
    const taken: Announced[] = [];
    const ring = () => bell.ring();
    const timer = setInterval(
      () => void this.#tend(consumer, taken, bell),
      this.#options.claimIdleMs / 3,
    );
    timer.unref();
    this.#workers.set(consumer, bell);
    signal.addEventListener('abort', ring, { once: true });
    try {
      await this.#begin(consumer, taken, bell);
      while (!signal.aborted && !this.#closed) {
        const run = taken.shift() ?? (await this.#next(consumer));
        if (run === undefined) await bell.heard();
        else if (await this.#isThere(run, taken, bell)) yield this.#claim(run);
      }
    } finally {
      clearInterval(timer);
      signal.removeEventListener('abort', ring);
      this.#workers.delete(consumer);
      if (this.#workers.size === 0) this.#unwatch();
      await this.#letGo(consumer);
    }
  }

  /** Ends all claims, and lets others have them at once. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#ringAll();
    const consumers = [...this.#workers.keys()];
    await Promise.all(consumers.map(async (consumer) => this.#letGo(consumer)));
  }

  #claim({ runId, sessionId }: Announced): RunClaim {
    const { announcements, streams } = this.#parts;
    return {
      runId,
      sessionId,
      projected: async (seq) => streams.trim(runId, seq, this.#options.maxLength),
      done: async () => announcements.retire(runId),
    };
  }

  async #begin(consumer: string, taken: Announced[], bell: Bell): Promise<void> {
    await this.#patiently(async () => {
      await this.#parts.claims.prepare();
      if (this.#stopWatching === undefined) {
        const newest = await this.#parts.claims.newest();
        const listener = { onEntries: () => this.#ringAll(), onBack: () => this.#ringAll() };
        this.#stopWatching = this.#parts.reader.watch(this.#parts.runsKey, newest, listener);
      }
    });
    await this.#tend(consumer, taken, bell);
  }

  async #next(consumer: string): Promise<Announced | undefined> {
    return this.#patiently(async () => this.#parts.claims.next(consumer));
  }

  /** Says that the worker lives, and takes over from those who don't. */
  async #tend(consumer: string, taken: Announced[], bell: Bell): Promise<void> {
    try {
      await this.#parts.claims.keep(consumer);
      taken.push(...(await this.#parts.claims.takeOver(consumer, this.#options.claimIdleMs)));
      bell.ring();
    } catch {
      // The next time will do.
    }
  }

  /** Whether a claimed run is in the log; one that is not yet comes again in a while. */
  async #isThere(run: Announced & { age?: number }, taken: Announced[], bell: Bell) {
    const { streams, announcements } = this.#parts;
    const progress = await this.#patiently(async () => streams.progress(run.runId));
    const age = run.age ?? 0;
    if (progress && !progress.settled) return true;
    if (progress || age > UNBORN.forMs) {
      await this.#patiently(async () => announcements.retire(run.runId));
    } else {
      setTimeout(() => {
        taken.push({ ...run, age: age + UNBORN.everyMs } as Announced);
        bell.ring();
      }, UNBORN.everyMs).unref();
    }
    return false;
  }

  async #letGo(consumer: string): Promise<void> {
    try {
      await this.#parts.claims.letGo(consumer);
    } catch {
      // Then others take over what it had when it has not been heard of for a while.
    }
  }

  #unwatch(): void {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
  }

  #ringAll(): void {
    for (const bell of this.#workers.values()) bell.ring();
  }

  /** Asks until Redis answers; undefined when the registry is closed. */
  async #patiently<T>(ask: () => Promise<T>): Promise<T | undefined> {
    while (!this.#closed) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        // A Redis that has lost what it had has lost the group too.
        if (isReply(error, 'NOGROUP')) await this.#parts.claims.prepare().catch(() => {});
        await delay(RETRY_MS);
      }
    }
    return undefined;
  }
}
