import type { StreamEvent } from '@liminal/protocol';
import type { RunProgress } from '../../log/append-rules.ts';
import type { EventRow, RunConstants } from '../../log/event-rows.ts';
import { decodeEvent } from '../../log/event-rows.ts';
import { isForeignKey, isReply, type Keys, type RedisLink, scripts } from '../connection/index.ts';
import {
  encodeConstants,
  fieldsOf,
  entryIdOf,
  progressOf,
  eventRowOf,
  type StreamEntry,
  valuesOf,
  wirePayload,
} from '../streams/index.ts';

/** One append. */
export interface Batch {
  firstSeq: number;
  rows: EventRow[];
  constants: RunConstants;
  ends: boolean;
  /**
   * Whether an earlier append of these events, or of the first of these events, may have succeeded although its answer
   * was lost.
   */
  isRetry: boolean;
}

/** The answer of `append.lua`. */
export interface Appended {
  outcome: 'OK' | 'SEQ_CONFLICT' | 'RUN_ENDED' | 'ENVELOPE_MISMATCH';
  lastSeq: number;
}

/**
 * The number of entries that are read at once. The number is small, so that Redis can serve other commands in between.
 */
const pageSize = 1_000;

/**
 * The streams of runs, and the fields that are stored once per run. Each method is one command, or one page of a long
 * read.
 */
export class RunStreams {
  readonly #link: RedisLink;
  readonly #keys: Keys;

  constructor(link: RedisLink, keys: Keys) {
    this.#link = link;
    this.#keys = keys;
  }

  keyOf(runId: string): string {
    return this.#keys.events(runId);
  }

  async append(runId: string, batch: Batch): Promise<Appended> {
    const args = [
      batch.firstSeq,
      encodeConstants(batch.constants),
      batch.ends ? '1' : '',
      batch.isRetry ? '1' : '',
      runId,
      ...valuesOf(batch.constants),
    ];
    for (const row of batch.rows) args.push(row.timestamp, row.type, wirePayload(row));
    try {
      const reply = await this.#link.run(scripts.append, this.#pair(runId), args);
      const [outcome, lastSeq] = reply as [Appended['outcome'], number];
      return { outcome, lastSeq };
    } catch (error) {
      if (isForeignKey(error)) return { outcome: 'SEQ_CONFLICT', lastSeq: -1 };
      throw error;
    }
  }

  /** Adds the single event of a batch if the run exists and the event's id is new; otherwise resolves with false. */
  async add(runId: string, { rows, constants }: Batch): Promise<boolean> {
    const [row] = rows;
    if (row === undefined) return false;
    try {
      const how = ['NOMKSTREAM', entryIdOf(row.seq), ...fieldsOf(runId, constants, row)];
      return (await this.#link.call('XADD', this.keyOf(runId), ...how)) !== null;
    } catch (error) {
      if (isReply(error, 'ERR The ID') || isForeignKey(error)) return false;
      throw error;
    }
  }

  /**
   * A run's progress; undefined if it has no events, was settled a while ago, or its keys belong to another program.
   */
  async progress(runId: string): Promise<RunProgress | undefined> {
    try {
      return progressOf(await this.#link.run(scripts.progress, this.#pair(runId), []));
    } catch (error) {
      if (isForeignKey(error)) return undefined;
      throw error;
    }
  }

  /**
   * Returns at most `limit` events after a `seq`. Also returns the events of a settled run, while these events exist.
   */
  async events(runId: string, constants: RunConstants, after: number, limit: number) {
    const events: StreamEvent[] = [];
    let last = after;
    while (events.length < limit) {
      const count = Math.min(pageSize, limit - events.length);
      const entries = await this.#entries(runId, last, count);
      const rows = entries.map(eventRowOf);
      for (const row of rows) {
        if (row) events.push(decodeEvent(runId, constants, row));
      }
      // An entry that is not an event is the last entry of its run.
      if (entries.length < count || rows.includes(undefined)) break;
      last = events.at(-1)?.seq ?? last;
    }
    return events;
  }

  async settle(runId: string, ttlMs: number): Promise<void> {
    try {
      await this.#link.run(scripts.settle, this.#pair(runId), [ttlMs]);
    } catch (error) {
      // If the key is not Liminal's, there is no run to settle.
      if (!isForeignKey(error)) throw error;
    }
  }

  async trim(runId: string, projected: number, keep: number): Promise<void> {
    await this.#link.run(scripts.trim, [this.keyOf(runId)], [projected, Math.max(1, keep)]);
  }

  async #entries(runId: string, after: number, count: number): Promise<StreamEntry[]> {
    const from = entryIdOf(Math.max(after, -1) + 1);
    const key = this.#keys.events(runId);
    try {
      return (await this.#link.call('XRANGE', key, from, '+', 'COUNT', count)) as StreamEntry[];
    } catch (error) {
      if (isForeignKey(error)) return [];
      throw error;
    }
  }

  #pair(runId: string): string[] {
    return [this.#keys.events(runId), this.#keys.run(runId)];
  }
}
