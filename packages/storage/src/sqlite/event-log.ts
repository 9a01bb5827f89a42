import type { StreamEvent } from '@liminal/protocol';
import { errors } from '../errors.ts';
import type { EventLog, FollowOptions, LoggedRun, ReadOptions } from '../event-log.ts';
import { advanceRun, isNotEmpty } from '../log/append-rules.ts';
import { decodeEvent, encodeEvents } from '../log/event-rows.ts';
import { Followers } from '../log/followers.ts';
import { yieldToEventLoop } from '../yield-to-event-loop.ts';
import type { Database } from './database.ts';
import type { TableRun } from './event-table.ts';
import { EventTable } from './event-table.ts';

/**
 * The most data that a follower reads at once: the number of events, or the number of characters of events. The event
 * that exceeds the limit is included.
 */
const followPage = { events: 128, characters: 1_000_000 };

/**
 * An event with at least this many characters of JSON takes so long to append that other work runs before its
 * followers are notified.
 */
const large = 256 * 1024;

/**
 * The event log in SQLite. The log works synchronously: an append takes microseconds, and the events are in the
 * database when the append returns. The progress of each run is kept in memory, because no other process writes to this
 * database.
 */
export class SqliteEventLog implements EventLog {
  readonly #database: Database;
  readonly #table: EventTable;
  readonly #runs: Map<string, TableRun>;
  readonly #followers = new Followers({
    page: (runId, after) => this.#database.read(() => this.#page(runId, after)),
    stateOf: (runId) => this.#stateOf(runId),
    isSettled: (runId) => this.#isSettled(runId),
    unfollowed: (runId) => this.#dropSettled(runId),
  });

  constructor(database: Database) {
    this.#database = database;
    this.#table = new EventTable(database);
    this.#runs = this.#table.runs();
    for (const runId of this.#runs.keys()) this.#dropSettled(runId);
  }

  async append(runId: string, events: readonly StreamEvent[]): Promise<void> {
    if (!isNotEmpty(events)) return;
    const rows = encodeEvents(runId, events);
    const isLarge = rows.some(({ payload }) => payload.length > large);
    if (isLarge) await yieldToEventLoop();
    const run = await this.#database.writeInTurn('LOG_WRITE_FAILED', () => {
      const known = this.#runs.get(runId);
      if (!known && this.#isSettled(runId)) throw errors.RUN_ENDED.ended(runId, events[0]);
      const progress = advanceRun(known?.progress, runId, events);
      const key = known?.key ?? this.#table.addRun(runId, progress.constants);
      for (const row of rows) this.#table.addEvent(key, row);
      if (progress.ended) this.#table.markEnded(key);
      return { key, progress };
    });
    this.#runs.set(runId, run);
    // The callers that wait for this append run first, because sending the event to readers takes as long as the
    // append.
    if (isLarge) await yieldToEventLoop();
    this.#followers.notify(runId);
  }

  async read(runId: string, options: ReadOptions = {}): Promise<StreamEvent[]> {
    const run = this.#runs.get(runId);
    if (!run || run.progress.settled) return [];
    return this.#database.read(() => {
      const rows = this.#table.events(run.key, options.after ?? -1, options.limit);
      return Array.from(rows, (row) => decodeEvent(runId, run.progress.constants, row));
    });
  }

  follow(runId: string, options?: FollowOptions): AsyncIterable<StreamEvent> {
    return this.#followers.follow(runId, options);
  }

  async unsettled(): Promise<LoggedRun[]> {
    return [...this.#runs]
      .filter(([, { progress }]) => !progress.settled)
      .map(([runId, { progress }]) => ({
        ...progress.constants,
        runId,
        lastSeq: progress.lastSeq,
        ended: progress.ended,
      }));
  }

  async settle(runId: string): Promise<void> {
    const run = this.#runs.get(runId);
    if (!run || run.progress.settled) return;
    const isFollowed = await this.#database.writeInTurn('LOG_WRITE_FAILED', () => {
      const follows = this.#followers.follows(runId);
      if (follows) this.#table.markSettled(run.key);
      else this.#table.dropRun(runId, run.key);
      return follows;
    });
    if (isFollowed) run.progress.settled = true;
    else this.#runs.delete(runId);
    this.#followers.notify(runId);
  }

  async close(): Promise<void> {
    this.#followers.close();
  }

  #page(runId: string, after: number): StreamEvent[] {
    const run = this.#runs.get(runId);
    const page: StreamEvent[] = [];
    if (!run) return page;
    let characters = 0;
    for (const row of this.#table.events(run.key, after, followPage.events)) {
      page.push(decodeEvent(runId, run.progress.constants, row));
      characters += row.payload.length;
      if (characters > followPage.characters) break;
    }
    return page;
  }

  #stateOf(runId: string): 'unknown' | 'open' | 'closed' {
    const progress = this.#runs.get(runId)?.progress;
    if (!progress) return this.#table.isDropped(runId) ? 'closed' : 'unknown';
    return progress.ended || progress.settled ? 'closed' : 'open';
  }

  #isSettled(runId: string): boolean {
    return this.#runs.get(runId)?.progress.settled ?? this.#table.isDropped(runId);
  }

  #drop(runId: string, run: TableRun): void {
    this.#database.write('LOG_WRITE_FAILED', () => this.#table.dropRun(runId, run.key));
    this.#runs.delete(runId);
  }

  /**
   * Deletes a settled run once it has no follower. If the disk refuses the deletion, the run is deleted at the next
   * start.
   */
  #dropSettled(runId: string): void {
    const run = this.#runs.get(runId);
    if (!run?.progress.settled) return;
    try {
      this.#drop(runId, run);
    } catch {
      // The error is ignored: the run is already marked as settled, and its events only take up space.
    }
  }
}
