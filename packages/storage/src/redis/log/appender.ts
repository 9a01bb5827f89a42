import { BoundedMap, thrownMessage } from '@liminal/protocol';
import type { StreamEvent } from '@liminal/protocol';
import { errors } from '../../errors.ts';
import { advanceRun, constantsOf } from '../../log/append-rules.ts';
import type { RunConstants } from '../../log/event-rows.ts';
import { encodeEvents } from '../../log/event-rows.ts';
import type { Announcements } from './announcements.ts';
import type { Appended, Batch, RunStreams } from './run-streams.ts';

type Events = readonly [StreamEvent, ...StreamEvent[]];

/** A run whose last event this server has written. */
interface OwnRun {
  constants: RunConstants;
  nextSeq: number;
}

/** The maximum of remembered runs. Runs that another server has ended stay remembered for a while. */
const maxOwn = 10_000;

/** Appends events to runs, as the only writer of each run. */
export class Appender {
  readonly #streams: RunStreams;
  readonly #announcements: Announcements;
  readonly #isCluster: boolean;
  readonly #own = new BoundedMap<string, OwnRun>(maxOwn);
  /** Runs with an append for which it is unknown whether Redis has stored it. */
  readonly #inDoubt = new Set<string>();

  /** @param isCluster - Whether runs and their registry may be on different servers. */
  constructor(streams: RunStreams, announcements: Announcements, isCluster: boolean) {
    this.#streams = streams;
    this.#announcements = announcements;
    this.#isCluster = isCluster;
  }

  /** Appends events. Throws the errors of `EventLog.append`. */
  async append(runId: string, events: Events): Promise<void> {
    const constants = this.#own.get(runId)?.constants ?? constantsOf(events[0]);
    const firstSeq = events[0].seq;
    // This function checks everything that can be checked without Redis; Redis checks the other rules.
    const before = { constants, lastSeq: firstSeq - 1, ended: false, settled: false };
    const { ended } = advanceRun(before, runId, events);
    const rows = encodeEvents(runId, events);
    const isRetry = this.#inDoubt.has(runId);
    const batch = { firstSeq, rows, constants, ends: ended, isRetry };
    const { outcome, lastSeq } = await this.#write(runId, batch);
    if (isRetry) this.#inDoubt.delete(runId);
    if (outcome === 'OK') return this.#remember(runId, batch, lastSeq + 1);
    this.forget(runId);
    if (outcome === 'SEQ_CONFLICT')
      throw errors.SEQ_CONFLICT.unexpected(runId, events[0], lastSeq + 1);
    if (outcome === 'RUN_ENDED') throw errors.RUN_ENDED.ended(runId, events[0]);
    throw errors.ENVELOPE_MISMATCH.foreign(runId, events[0]);
  }

  forget(runId: string): void {
    this.#own.delete(runId);
  }

  /**
   * Discards the remembered progress of all runs, because a Redis that was unavailable may have lost acknowledged
   * events.
   */
  forgetAll(): void {
    this.#own.clear();
  }

  async #write(runId: string, batch: Batch): Promise<Appended> {
    try {
      if (this.#isNext(runId, batch) && (await this.#streams.add(runId, batch))) {
        return { outcome: 'OK', lastSeq: batch.firstSeq };
      }
      // Announce the run first, and wait for the answer: a run in the log must be in the registry, even if a later step
      // fails.
      await this.#announce(runId, batch);
      return await this.#streams.append(runId, batch);
    } catch (cause) {
      this.forget(runId);
      this.#inDoubt.add(runId);
      throw errors.LOG_WRITE_FAILED.redis(runId, thrownMessage(cause), { cause });
    }
  }

  /**
   * Announces a run before its first event, and in a cluster again before its last event: a replica that has become
   * the master may lack the run, and a run that is not in the registry never gets into history.
   */
  async #announce(runId: string, { firstSeq, ends, constants }: Batch): Promise<void> {
    const isDue = firstSeq === 0 || (this.#isCluster && ends);
    if (isDue) await this.#announcements.announce(runId, constants.sessionId);
  }

  /**
   * Whether the batch is a single event that directly follows the last event that this server has written. Then Redis
   * itself refuses the event's id if another entry was added since, and no other check is needed. Always false in a
   * cluster: there, on an open connection, a command may be redirected to a node that has become the master and lacks
   * the last event.
   */
  #isNext(runId: string, { firstSeq, rows, ends, isRetry }: Batch): boolean {
    if (this.#isCluster || ends || isRetry || rows.length > 1) return false;
    return this.#own.get(runId)?.nextSeq === firstSeq;
  }

  #remember(runId: string, { constants, ends }: Batch, nextSeq: number): void {
    if (ends) this.forget(runId);
    else this.#own.set(runId, { constants, nextSeq });
  }
}
