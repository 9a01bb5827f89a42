import type { StreamEvent } from '@liminal/protocol';
import { StorageError } from '../errors.ts';
import type { EventLog, FollowOptions, LoggedRun, ReadOptions } from '../event-log.ts';
import {
  advanceRun,
  constantsOf,
  envelopeMismatch,
  isNotEmpty,
  runEnded,
  seqConflict,
} from '../log/append-rules.ts';
import { encodeEvents } from '../log/event-rows.ts';
import { RedisFollowing } from './following.ts';
import type { Announcements } from './announcements.ts';
import { encodeConstants } from './rows.ts';
import type { Batch, RunStreams } from './run-streams.ts';
import type { StreamReader } from './stream-reader.ts';

type Events = readonly [StreamEvent, ...StreamEvent[]];

export class RedisEventLog implements EventLog {
  readonly #streams: RunStreams;
  readonly #announcements: Announcements;
  readonly #following: RedisFollowing;
  readonly #keepSettledMs: number;
  /** Runs of which an append may or may not have come through. */
  readonly #inDoubt = new Set<string>();

  /** @param keepSettledMs - how long followers of a settled run have to get the rest. */
  constructor(
    streams: RunStreams,
    announcements: Announcements,
    reader: StreamReader,
    keepSettledMs: number,
  ) {
    this.#streams = streams;
    this.#announcements = announcements;
    this.#following = new RedisFollowing(streams, reader);
    this.#keepSettledMs = keepSettledMs;
  }

  async append(runId: string, events: readonly StreamEvent[]): Promise<void> {
    if (!isNotEmpty(events)) return;
    const batch = this.#check(runId, events);
    const { outcome, lastSeq } = await this.#write(runId, events[0], batch);
    this.#inDoubt.delete(runId);
    if (outcome === 'SEQ_CONFLICT') throw seqConflict(runId, events[0], lastSeq + 1);
    if (outcome === 'RUN_ENDED') throw runEnded(runId, events[0]);
    if (outcome === 'ENVELOPE_MISMATCH') throw envelopeMismatch(runId, events[0]);
  }

  async read(runId: string, { after = -1, limit }: ReadOptions = {}): Promise<StreamEvent[]> {
    const run = await this.#streams.progress(runId);
    if (!run || run.settled) return [];
    return this.#streams.events(runId, run.constants, after, limit ?? Infinity);
  }

  follow(runId: string, options?: FollowOptions): AsyncIterable<StreamEvent> {
    return this.#following.follow(runId, options);
  }

  async unsettled(): Promise<LoggedRun[]> {
    const announced = await this.#announcements.all();
    const runs = await Promise.all(
      announced.map(async ({ runId }) => this.#streams.progress(runId)),
    );
    return announced.flatMap(({ runId }, index) => {
      const run = runs[index];
      if (!run || run.settled) return [];
      const { constants, lastSeq, ended } = run;
      return [{ ...constants, runId, lastSeq, ended }];
    });
  }

  async settle(runId: string): Promise<void> {
    await this.#streams.settle(runId, this.#keepSettledMs);
    await this.#announcements.retire(runId);
  }

  async close(): Promise<void> {
    this.#following.close();
  }

  /** What can be seen without asking: the rest is for the script to decide. */
  #check(runId: string, events: Events): Batch {
    const constants = constantsOf(events[0]);
    const firstSeq = events[0].seq;
    const before = { constants, lastSeq: firstSeq - 1, ended: false, settled: false };
    const { ended } = advanceRun(before, runId, events);
    return {
      firstSeq,
      rows: encodeEvents(runId, events),
      constants: encodeConstants(constants),
      ends: ended,
      isRetry: this.#inDoubt.has(runId),
    };
  }

  async #write(runId: string, first: StreamEvent, batch: Batch) {
    try {
      // Before its events, in the order in which Redis gets them: a run that is in the log is in the registry.
      const announced =
        first.seq === 0 ? this.#announcements.announce(runId, first.sessionId) : undefined;
      const [appended] = await Promise.all([this.#streams.append(runId, batch), announced]);
      return appended;
    } catch (cause) {
      this.#inDoubt.add(runId);
      const said = cause instanceof Error ? cause.message : String(cause);
      throw new StorageError('LOG_WRITE_FAILED', `Run ${runId} cannot be written: ${said}`, {
        cause,
      });
    }
  }
}
