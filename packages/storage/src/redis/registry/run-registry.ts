import { randomUUID } from 'node:crypto';
import type { RunClaim, RunRegistry } from '../../coordination.ts';
import type { Announced, Announcements, RunStreams } from '../log/index.ts';
import type { Claims } from './claims.ts';
import { isReply, retryWhile } from '../connection/index.ts';
import type { StreamReader } from '../streams/index.ts';
import { RegistryWorker } from './worker.ts';

export interface RegistryOptions {
  /** A claim is assigned to another worker if its worker has been silent for this long, in ms. */
  claimIdleMs: number;
  /** The number of newest events of a run that the log keeps even if they are projected. */
  maxLength: number;
}

interface RegistryParts {
  announcements: Announcements;
  claims: Claims;
  streams: RunStreams;
  reader: StreamReader;
  /** The name of the stream of announcements. */
  runsKey: string;
}

/**
 * How often, and for how long, to look for the first events of a run that was announced before it had events, in ms.
 */
const runChecks = { firstMs: 20, everyMs: 500, forMs: 60_000 };

/** A worker without claims is removed after the idle time of a claim, multiplied by this number. */
const removeAfter = 20;

export class RedisRunRegistry implements RunRegistry {
  readonly #parts: RegistryParts;
  readonly #options: RegistryOptions;
  readonly #workers = new Set<RegistryWorker>();
  #stopWatching: (() => void) | undefined;
  #closed = false;

  constructor(parts: RegistryParts, options: RegistryOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  async *claims(name: string, signal: AbortSignal): AsyncGenerator<RunClaim, void> {
    // Each start uses a new name, because a restarted worker does not know its earlier claims.
    const worker = new RegistryWorker(`${name}:${randomUUID()}`);
    const wake = () => worker.notify();
    const isWanted = () => !signal.aborted && !this.#closed;
    const timer = setInterval(() => void this.#renewClaims(worker), this.#options.claimIdleMs / 3);
    timer.unref();
    this.#workers.add(worker);
    signal.addEventListener('abort', wake, { once: true });
    try {
      await this.#begin(worker, isWanted);
      while (isWanted()) {
        const run = worker.next() ?? (await this.#claimNext(worker, isWanted));
        if (run === undefined) await worker.waitForSignal();
        else if (await this.#isLogged(run, worker, isWanted)) yield this.#claim(run, worker);
      }
    } finally {
      clearInterval(timer);
      signal.removeEventListener('abort', wake);
      this.#workers.delete(worker);
      if (this.#workers.size === 0) this.#unwatch();
      await this.#releaseClaims(worker);
    }
  }

  /** Releases all claims, so that other workers can claim the runs at once. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#notifyAll();
    await Promise.all(Array.from(this.#workers, async (worker) => this.#releaseClaims(worker)));
  }

  #claim({ runId, sessionId }: Announced, worker: RegistryWorker): RunClaim {
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

  async #retire(runId: string, worker: RegistryWorker): Promise<void> {
    await this.#parts.announcements.retire(runId);
    worker.forget(runId);
  }

  async #begin(worker: RegistryWorker, isWanted: () => boolean): Promise<void> {
    await this.#retryWhile(isWanted, async () => {
      await this.#parts.claims.prepare();
      if (this.#stopWatching === undefined) {
        const newest = await this.#parts.claims.newestEntryId();
        const listener = {
          onEntries: () => this.#notifyAll(),
          onReconnect: () => this.#notifyAll(),
        };
        this.#stopWatching = this.#parts.reader.watch(this.#parts.runsKey, newest, listener);
      }
    });
    if (isWanted()) await this.#renewClaims(worker);
  }

  async #claimNext(
    worker: RegistryWorker,
    isWanted: () => boolean,
  ): Promise<Announced | undefined> {
    const run = await this.#retryWhile(isWanted, async () =>
      this.#parts.claims.next(worker.consumer),
    );
    if (run) worker.take([run]);
    return worker.next();
  }

  /** Renews the worker's claims, takes the claims of dead workers, and finds claims whose answers were lost. */
  async #renewClaims(worker: RegistryWorker): Promise<void> {
    const { claims } = this.#parts;
    const { claimIdleMs } = this.#options;
    try {
      worker.take(await claims.renewAll(worker.consumer));
      worker.take(await claims.takeOver(worker.consumer, claimIdleMs));
      await claims.removeIdleWorkers(claimIdleMs * removeAfter);
    } catch {
      // The error is ignored: the timer will repeat these calls.
    }
    // The worker may have missed runs while Redis was unavailable.
    worker.notify();
  }

  /** Returns whether a claimed run has events in the log. A run without events is offered to a worker again later. */
  async #isLogged(
    run: Announced & { age?: number },
    worker: RegistryWorker,
    isWanted: () => boolean,
  ): Promise<boolean> {
    const progress = await this.#retryWhile(isWanted, async () =>
      this.#parts.streams.progress(run.runId),
    );
    const age = run.age ?? 0;
    if (progress && !progress.settled) return true;
    if (progress || age > runChecks.forMs) {
      await this.#retryWhile(isWanted, async () => this.#retire(run.runId, worker));
    } else {
      const wait = Math.min(Math.max(age, runChecks.firstMs), runChecks.everyMs);
      const older: Announced & { age: number } = { ...run, age: age + wait };
      setTimeout(() => worker.putBack(older), wait).unref();
    }
    return false;
  }

  async #releaseClaims(worker: RegistryWorker): Promise<void> {
    try {
      await this.#parts.claims.releaseAll(worker.consumer);
    } catch {
      // The error is ignored: other workers take over the claims after the idle time.
    }
  }

  #unwatch(): void {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
  }

  #notifyAll(): void {
    for (const worker of this.#workers) worker.notify();
  }

  /** Retries like `retryWhile`; resolves with undefined once the answer is no longer needed. */
  async #retryWhile<T>(isWanted: () => boolean, attempt: () => Promise<T>): Promise<T | undefined> {
    return retryWhile(isWanted, attempt, async (error) => {
      // A Redis that has lost its data has also lost the consumer group, so create the group again.
      if (isReply(error, 'NOGROUP')) await this.#parts.claims.prepare().catch(() => {});
    });
  }
}
