import { randomUUID } from 'node:crypto';
import type { RunClaim, RunRegistry } from '../../coordination.ts';
import type { Announced, Announcements, RunStreams } from '../log/index.ts';
import type { Claims } from './claims.ts';
import { isReply, patiently } from '../connection/index.ts';
import type { StreamReader } from '../streams/index.ts';
import { Worker } from './worker.ts';

export interface RegistryOptions {
  /** A claim whose worker has been silent for this long goes to another worker, ms. */
  claimIdleMs: number;
  /** The number of newest events that a run keeps even if they are projected. */
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

/** How often, and for how long, to check for the first events of a run that is announced before it has any, ms. */
const UNBORN = { firstMs: 20, everyMs: 500, forMs: 60_000 };

/** A worker without claims is removed after this multiple of a claim's idle time. */
const BURIED_AFTER = 20;

export class RedisRunRegistry implements RunRegistry {
  readonly #parts: Parts;
  readonly #options: RegistryOptions;
  readonly #workers = new Set<Worker>();
  #stopWatching: (() => void) | undefined;
  #closed = false;

  constructor(parts: Parts, options: RegistryOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  async *claims(name: string, signal: AbortSignal): AsyncGenerator<RunClaim, void> {
    // A new name, because a restarted worker does not know its earlier claims.
    const worker = new Worker(`${name}:${randomUUID()}`);
    const ring = () => worker.ring();
    const isWanted = () => !signal.aborted && !this.#closed;
    const timer = setInterval(() => void this.#tend(worker), this.#options.claimIdleMs / 3);
    timer.unref();
    this.#workers.add(worker);
    signal.addEventListener('abort', ring, { once: true });
    try {
      await this.#begin(worker, isWanted);
      while (isWanted()) {
        const run = worker.next() ?? (await this.#ask(worker, isWanted));
        if (run === undefined) await worker.heard();
        else if (await this.#isThere(run, worker, isWanted)) yield this.#claim(run, worker);
      }
    } finally {
      clearInterval(timer);
      signal.removeEventListener('abort', ring);
      this.#workers.delete(worker);
      if (this.#workers.size === 0) this.#unwatch();
      await this.#letGo(worker);
    }
  }

  /** Ends all claims, so that other workers can have them at once. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#ringAll();
    await Promise.all(Array.from(this.#workers, async (worker) => this.#letGo(worker)));
  }

  #claim({ runId, sessionId }: Announced, worker: Worker): RunClaim {
    const { streams, announcements } = this.#parts;
    return {
      runId,
      sessionId,
      others: async () => {
        const runs = await announcements.all();
        const others = runs.filter((run) => run.sessionId === sessionId && run.runId !== runId);
        return others.map((run) => run.runId);
      },
      projected: async (seq) => streams.trim(runId, seq, this.#options.maxLength),
      done: async () => this.#retire(runId, worker),
    };
  }

  async #retire(runId: string, worker: Worker): Promise<void> {
    await this.#parts.announcements.retire(runId);
    worker.forget(runId);
  }

  async #begin(worker: Worker, isWanted: () => boolean): Promise<void> {
    await this.#patiently(isWanted, async () => {
      await this.#parts.claims.prepare();
      if (this.#stopWatching === undefined) {
        const newest = await this.#parts.claims.newest();
        const listener = { onEntries: () => this.#ringAll(), onBack: () => this.#ringAll() };
        this.#stopWatching = this.#parts.reader.watch(this.#parts.runsKey, newest, listener);
      }
    });
    if (isWanted()) await this.#tend(worker);
  }

  async #ask(worker: Worker, isWanted: () => boolean): Promise<Announced | undefined> {
    const run = await this.#patiently(isWanted, async () =>
      this.#parts.claims.next(worker.consumer),
    );
    if (run) worker.take([run]);
    return worker.next();
  }

  /** Renews the worker's claims, takes over those of dead workers, and finds claims whose answers were lost. */
  async #tend(worker: Worker): Promise<void> {
    const { claims } = this.#parts;
    const { claimIdleMs } = this.#options;
    try {
      worker.take(await claims.keep(worker.consumer));
      worker.take(await claims.takeOver(worker.consumer, claimIdleMs));
      await claims.bury(claimIdleMs * BURIED_AFTER);
    } catch {
      // The timer will repeat this.
    }
    // The worker may have missed runs while Redis was unavailable.
    worker.ring();
  }

  /** Whether a claimed run is in the log. A run that is not yet in the log is offered again later. */
  async #isThere(
    run: Announced & { age?: number },
    worker: Worker,
    isWanted: () => boolean,
  ): Promise<boolean> {
    const progress = await this.#patiently(isWanted, async () =>
      this.#parts.streams.progress(run.runId),
    );
    const age = run.age ?? 0;
    if (progress && !progress.settled) return true;
    if (progress || age > UNBORN.forMs) {
      await this.#patiently(isWanted, async () => this.#retire(run.runId, worker));
    } else {
      const wait = Math.min(Math.max(age, UNBORN.firstMs), UNBORN.everyMs);
      const older: Announced & { age: number } = { ...run, age: age + wait };
      setTimeout(() => worker.putBack(older), wait).unref();
    }
    return false;
  }

  async #letGo(worker: Worker): Promise<void> {
    try {
      await this.#parts.claims.letGo(worker.consumer);
    } catch {
      // Other workers then take over the claims after the idle time.
    }
  }

  #unwatch(): void {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
  }

  #ringAll(): void {
    for (const worker of this.#workers) worker.ring();
  }

  /** As `patiently`; undefined once the answer is no longer wanted. */
  async #patiently<T>(isWanted: () => boolean, ask: () => Promise<T>): Promise<T | undefined> {
    return patiently(isWanted, ask, async (error) => {
      // A Redis that has lost its data has also lost the group.
      if (isReply(error, 'NOGROUP')) await this.#parts.claims.prepare().catch(() => {});
    });
  }
}
