/** The tables, as migration steps: step n migrates a database from version n to n + 1 (`user_version`). */
import type { DatabaseSync } from 'node:sqlite';
import { errors } from '../errors.ts';
import { readItem } from '../store/stored-json.ts';
import { callColumn } from './id-key.ts';
import { fillItemWords, itemWords } from './item-words.ts';

const coreTables = `
  -- Runs whose events are in the log. The fields that all events of a run share are here once, as JSON.
  CREATE TABLE runs (
    run_key INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    constants TEXT NOT NULL,
    ended INTEGER NOT NULL DEFAULT 0,
    -- The run's events are deleted as soon as it has no follower.
    settled INTEGER NOT NULL DEFAULT 0
  ) STRICT;

  CREATE TABLE events (
    run_key INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    timestamp TEXT NOT NULL,
    type TEXT NOT NULL,
    -- The payload as JSON, without its type.
    payload TEXT NOT NULL,
    PRIMARY KEY (run_key, seq)
  ) STRICT, WITHOUT ROWID;

  -- The ids of runs whose events are deleted, which can neither continue nor begin again.
  CREATE TABLE settled_runs (run_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

  CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL,
    active INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    record TEXT NOT NULL
  ) STRICT;

  -- A session's runs are in the order of their keys.
  CREATE TABLE responses (
    response_key INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL,
    last_seq INTEGER NOT NULL,
    item_count INTEGER NOT NULL,
    -- The Response without its items, as JSON.
    head TEXT NOT NULL
  ) STRICT;
  CREATE INDEX responses_of_session ON responses (session_id, response_key);

  CREATE TABLE items (
    response_key INTEGER NOT NULL REFERENCES responses ON DELETE CASCADE,
    item_index INTEGER NOT NULL,
    item TEXT NOT NULL,
    PRIMARY KEY (response_key, item_index)
  ) STRICT;
`;

const blobs = `
  CREATE TABLE blobs (
    -- Never reused, so that a reader of several parts gets the parts of one blob.
    blob_key INTEGER PRIMARY KEY AUTOINCREMENT,
    -- NULL while the parts are being written, and when no session needs the blob any more.
    hash TEXT UNIQUE,
    mime_type TEXT NOT NULL,
    -- When the blob was last uploaded, ms since the epoch; NULL once a session holds it.
    waiting_since INTEGER
  ) STRICT;
  CREATE INDEX waiting_blobs ON blobs (waiting_since) WHERE waiting_since IS NOT NULL;

  CREATE TABLE blob_parts (
    blob_key INTEGER NOT NULL REFERENCES blobs ON DELETE CASCADE,
    part INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (blob_key, part)
  ) STRICT;

  CREATE TABLE blob_holders (
    session_id TEXT NOT NULL,
    blob_key INTEGER NOT NULL REFERENCES blobs ON DELETE CASCADE,
    PRIMARY KEY (session_id, blob_key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX holders_of_blob ON blob_holders (blob_key);
`;

const deletedSessions = `
  -- The ids of deleted sessions, which must not be stored again.
  CREATE TABLE deleted_sessions (session_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
`;

const grants = `
  -- A project's grants are in the order of their keys.
  CREATE TABLE grants (
    grant_key INTEGER PRIMARY KEY,
    project_id TEXT NOT NULL,
    rule TEXT NOT NULL,
    -- The whole grant as JSON.
    record TEXT NOT NULL,
    UNIQUE (project_id, rule)
  ) STRICT;
`;

const eventArchive = `
  -- Archived events of finished runs, in parts, as JSON.
  CREATE TABLE kept_events (
    run_id TEXT NOT NULL,
    -- seq of the part's first event.
    from_seq INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    events TEXT NOT NULL,
    PRIMARY KEY (run_id, from_seq)
  ) STRICT;
  CREATE INDEX kept_events_of_session ON kept_events (session_id);
`;

const callKeys = `
  -- The key that a call, its outputs and its permission requests share; NULL for other items.
  ALTER TABLE items ADD COLUMN call_key TEXT;
  CREATE INDEX items_of_call ON items (response_key, call_key, item_index)
    WHERE call_key IS NOT NULL;
`;

const migrations: ((connection: DatabaseSync) => void)[] = [
  (connection) => connection.exec(coreTables),
  (connection) => {
    connection.exec(itemWords);
    fillItemWords(connection);
  },
  (connection) => connection.exec(blobs),
  (connection) => connection.exec(deletedSessions),
  (connection) => connection.exec(grants),
  (connection) => connection.exec(eventArchive),
  (connection) => {
    connection.exec(callKeys);
    fillCallKeys(connection);
  },
];

/** Throws StorageError `DATA_DIR_UNUSABLE` for a database with tables of another program. Writes nothing. */
export function refuseForeign(connection: DatabaseSync, path: string): void {
  const isEmpty = connection.prepare('SELECT 1 FROM sqlite_master').get() === undefined;
  if (isEmpty || versionOf(connection) !== 0) return;
  throw errors.DATA_DIR_UNUSABLE.foreign(path);
}

/** Migrates a database to this version, each step in a transaction. */
export function migrate(connection: DatabaseSync, path: string): void {
  const version = versionOf(connection);
  if (version > migrations.length) {
    throw errors.DATA_TOO_NEW.sqlite(path, version, migrations.length);
  }
  for (const [step, migrateStep] of migrations.entries()) {
    if (step < version) continue;
    connection.exec('BEGIN IMMEDIATE');
    // A failed step is rolled back when the caller closes the connection.
    migrateStep(connection);
    connection.exec(`PRAGMA user_version = ${step + 1}; COMMIT`);
  }
}

/** Adds call keys to items that were stored before items had call keys. */
function fillCallKeys(connection: DatabaseSync): void {
  const items = connection
    .prepare('SELECT response_key, item_index, item FROM items')
    .iterate() as Iterable<unknown> as Iterable<FilledRow>;
  const keys: { key: string; run: number; index: number }[] = [];
  // Read all rows first, because a row that changes during the read could be returned again.
  for (const { response_key: run, item_index: index, item } of items) {
    const key = callColumn(readItem(item, index));
    if (key !== null) keys.push({ key, run, index });
  }
  const fill = connection.prepare(
    'UPDATE items SET call_key = ? WHERE response_key = ? AND item_index = ?',
  );
  for (const { key, run, index } of keys) fill.run(key, run, index);
}

interface FilledRow {
  response_key: number;
  item_index: number;
  /** The item as JSON. */
  item: string;
}

function versionOf(connection: DatabaseSync): number {
  return Number(connection.prepare('PRAGMA user_version').get()?.['user_version']);
}
