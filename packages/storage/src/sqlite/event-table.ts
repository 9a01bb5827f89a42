import type { StatementSync } from 'node:sqlite';
import type { RunProgress } from '../log/append-rules.ts';
import { type EventRow, RunConstants } from '../log/event-rows.ts';
import { readAs } from '../store/stored-json.ts';
import type { Database } from './database.ts';
import { idOf, keyOf } from './id-key.ts';

/** A run whose events are in the table. */
export interface TableRun {
  key: number | bigint;
  progress: RunProgress;
}

interface RunRow {
  run_key: number;
  run_id: string;
  constants: string;
  ended: number;
  settled: number;
  last_seq: number;
}

/** The log's tables and their statements. The caller wraps writes in a transaction. */
export class EventTable {
  readonly #insertRun: StatementSync;
  readonly #insertEvent: StatementSync;
  readonly #markEnded: StatementSync;
  readonly #markSettled: StatementSync;
  readonly #deleteRun: StatementSync;
  readonly #insertSettled: StatementSync;
  readonly #findSettled: StatementSync;
  readonly #selectEvents: StatementSync;
  readonly #selectRuns: StatementSync;

  constructor(database: Database) {
    this.#insertRun = database.prepare('INSERT INTO runs (run_id, constants) VALUES (?, ?)');
    this.#insertEvent = database.prepare(
      'INSERT INTO events (run_key, seq, timestamp, type, payload) VALUES (?, ?, ?, ?, ?)',
    );
    this.#markEnded = database.prepare('UPDATE runs SET ended = 1 WHERE run_key = ?');
    this.#markSettled = database.prepare('UPDATE runs SET settled = 1 WHERE run_key = ?');
    this.#deleteRun = database.prepare('DELETE FROM runs WHERE run_key = ?');
    this.#insertSettled = database.prepare('INSERT INTO settled_runs (run_id) VALUES (?)');
    this.#findSettled = database.prepare('SELECT 1 FROM settled_runs WHERE run_id = ?');
    this.#selectEvents = database.prepare(
      'SELECT seq, timestamp, type, payload FROM events WHERE run_key = ? AND seq > ? ORDER BY seq LIMIT ?',
    );
    this.#selectRuns = database.prepare(
      `SELECT *, (SELECT max(seq) FROM events WHERE events.run_key = runs.run_key) AS last_seq
       FROM runs ORDER BY run_key`,
    );
  }

  addRun(runId: string, constants: RunConstants): TableRun['key'] {
    return this.#insertRun.run(keyOf(runId), JSON.stringify(constants)).lastInsertRowid;
  }

  addEvent(key: TableRun['key'], row: EventRow): void {
    this.#insertEvent.run(key, row.seq, row.timestamp, row.type, row.payload);
  }

  markEnded(key: TableRun['key']): void {
    this.#markEnded.run(key);
  }

  markSettled(key: TableRun['key']): void {
    this.#markSettled.run(key);
  }

  /** Deletes the run with its events, and remembers its id. */
  dropRun(runId: string, key: TableRun['key']): void {
    this.#deleteRun.run(key);
    this.#insertSettled.run(keyOf(runId));
  }

  isDropped(runId: string): boolean {
    return this.#findSettled.get(keyOf(runId)) !== undefined;
  }

  /** Yields a run's events. The events are read lazily, so that the caller can stop early. */
  events(key: TableRun['key'], after: number, limit = -1): Iterable<EventRow> {
    const rows: Iterable<unknown> = this.#selectEvents.iterate(key, after, limit);
    return rows as Iterable<EventRow>;
  }

  /** Returns all runs with events, oldest first; leaves out damaged runs. */
  runs(): Map<string, TableRun> {
    const rows = this.#selectRuns.all() as unknown[] as RunRow[];
    return new Map(
      rows.flatMap((row) => {
        const progress = progressOf(row);
        return progress === undefined ? [] : [[idOf(row.run_id), { key: row.run_key, progress }]];
      }),
    );
  }

  /** The ids of runs whose constants cannot be read. */
  unreadable(): string[] {
    const rows = this.#selectRuns.all() as unknown[] as RunRow[];
    return rows.filter((row) => progressOf(row) === undefined).map((row) => idOf(row.run_id));
  }
}

function progressOf(row: RunRow): RunProgress | undefined {
  const constants = readAs(RunConstants, row.constants);
  if (constants === undefined) return undefined;
  return {
    constants,
    lastSeq: row.last_seq,
    ended: row.ended === 1,
    settled: row.settled === 1,
  };
}
