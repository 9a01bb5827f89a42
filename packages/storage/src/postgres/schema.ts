/** The tables, as migration steps: step n migrates a schema from version n to n + 1. */
import type { Kysely, Transaction } from 'kysely';
import { sql } from 'kysely';
import { errors } from '../errors.ts';
import { callHashOf } from '../store/call-hash.ts';
import { readItem } from '../store/stored-json.ts';
import type { Tables } from './tables.ts';

/*
 * JSON is stored as text: PostgreSQL's own JSON types refuse \u0000 and lone surrogates, which are escaped in the text.
 * Ids and times are compared byte by byte, whatever the database's locale.
 */
const coreTables = `
  CREATE TABLE sessions (
    session_id text COLLATE "C" PRIMARY KEY,
    project_id text COLLATE "C" NOT NULL,
    active boolean NOT NULL,
    created_at text COLLATE "C" NOT NULL,
    updated_at text COLLATE "C" NOT NULL,
    fence bigint NOT NULL,
    title_words text NOT NULL,
    record text NOT NULL
  );

  -- A session's runs are in the order of their keys.
  CREATE TABLE responses (
    response_key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id text COLLATE "C" NOT NULL UNIQUE,
    session_id text COLLATE "C" NOT NULL,
    last_seq bigint NOT NULL,
    item_count integer NOT NULL,
    head text NOT NULL
  );
  CREATE INDEX responses_of_session ON responses (session_id, response_key);

  CREATE TABLE items (
    response_key bigint NOT NULL REFERENCES responses ON DELETE CASCADE,
    item_index integer NOT NULL,
    item text NOT NULL,
    words text,
    PRIMARY KEY (response_key, item_index)
  );
  -- The words are stored as text, which takes less space than a tsvector.
  CREATE INDEX words_of_items ON items USING gin (array_to_tsvector(string_to_array(words, ' ')))
    WITH (fastupdate = off) WHERE words IS NOT NULL;
`;

const blobs = `
  CREATE TABLE blobs (
    hash text COLLATE "C" PRIMARY KEY,
    mime_type text NOT NULL,
    bytes bytea NOT NULL,
    -- When the blob was last uploaded, ms since the epoch; NULL once a session holds it.
    waiting_since bigint
  );
  -- Not compressed, because reading parts of a compressed value is slow.
  ALTER TABLE blobs ALTER COLUMN bytes SET STORAGE EXTERNAL;
  CREATE INDEX waiting_blobs ON blobs (waiting_since) WHERE waiting_since IS NOT NULL;

  CREATE TABLE blob_holders (
    session_id text COLLATE "C" NOT NULL,
    hash text COLLATE "C" NOT NULL REFERENCES blobs,
    PRIMARY KEY (session_id, hash)
  );
  CREATE INDEX holders_of_blob ON blob_holders (hash);
`;

const deletedSessions = `
  -- The ids of deleted sessions, which must not be stored again.
  CREATE TABLE deleted_sessions (session_id text COLLATE "C" PRIMARY KEY);
`;

const grants = `
  -- A project's grants are in the order of their keys.
  CREATE TABLE grants (
    grant_key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id text COLLATE "C" NOT NULL,
    -- The hash of project and rule, which may be too long for an index.
    hash text COLLATE "C" NOT NULL UNIQUE,
    record text NOT NULL
  );
`;

const eventArchive = `
  -- Archived events of finished runs, in parts, as JSON.
  CREATE TABLE kept_events (
    run_id text COLLATE "C" NOT NULL,
    -- seq of the part's first event.
    from_seq bigint NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    events text NOT NULL,
    PRIMARY KEY (run_id, from_seq)
  );
  CREATE INDEX kept_events_of_session ON kept_events (session_id);
`;

const callHashes = `
  -- A hash of the key that a call, its outputs and its permission requests share; NULL for other items.
  ALTER TABLE items ADD COLUMN call_hash text COLLATE "C";
  CREATE INDEX items_of_call ON items (response_key, call_hash, item_index)
    WHERE call_hash IS NOT NULL;
`;

/** The number of items that get their hashes at once. */
const fillMax = 200;

/** Adds hashes to items that were stored before items had hashes. */
async function fillCallHashes(work: Transaction<Tables>): Promise<void> {
  let after = { key: '0', index: -1 };
  for (;;) {
    const rows = await work
      .selectFrom('items')
      .select(['response_key', 'item_index', 'item'])
      .where((row) =>
        row.eb(row.refTuple('response_key', 'item_index'), '>', row.tuple(after.key, after.index)),
      )
      .orderBy('response_key')
      .orderBy('item_index')
      .limit(fillMax)
      .execute();
    const last = rows.at(-1);
    if (!last) return;
    after = { key: last.response_key, index: last.item_index };
    const hashes = rows.map(({ item, item_index: index }) => callHashOf(readItem(item, index)));
    await sql`
      UPDATE items SET call_hash = filled.hash
      FROM unnest(
        ${rows.map((row) => row.response_key)}::bigint[],
        ${rows.map((row) => row.item_index)}::integer[],
        ${hashes.map((hash) => hash ?? null)}::text[]
      ) AS filled (key, index, hash)
      WHERE response_key = filled.key AND item_index = filled.index AND filled.hash IS NOT NULL
    `.execute(work);
  }
}

type Migration = string | ((work: Transaction<Tables>) => Promise<void>);

const migrations: Migration[] = [
  coreTables,
  blobs,
  deletedSessions,
  grants,
  eventArchive,
  async (work) => {
    await sql.raw(callHashes).execute(work);
    await fillCallHashes(work);
  },
];

/** A lock number that other programs are unlikely to use. */
const migrationLock = 4_823_771_905;

/**
 * Migrates the tables to this version, all steps or none. If several servers start at the same time, one of them does
 * this.
 */
export async function migrate(db: Kysely<Tables>, schema: string): Promise<void> {
  await db.transaction().execute(async (work) => {
    await sql`SELECT pg_advisory_xact_lock(${migrationLock})`.execute(work);
    await enterSchema(work, schema);
    await sql`CREATE TABLE IF NOT EXISTS data_version (version integer NOT NULL)`.execute(work);
    const version = await readVersion(work);
    if (version > migrations.length)
      throw errors.DATA_TOO_NEW.postgres(schema, version, migrations.length);
    if (version === migrations.length) return;
    for (const step of migrations.slice(version)) {
      if (typeof step === 'string') await sql.raw(step).execute(work);
      else await step(work);
    }
    await sql`DELETE FROM data_version`.execute(work);
    await sql`INSERT INTO data_version VALUES (${migrations.length})`.execute(work);
  });
}

/**
 * Enters the schema. Creates the schema only if it is missing, because the user may not have the right to create
 * schemas.
 */
async function enterSchema(work: Transaction<Tables>, schema: string): Promise<void> {
  const found = await sql`SELECT 1 FROM pg_namespace WHERE nspname = ${schema}`.execute(work);
  if (found.rows.length === 0) await sql`CREATE SCHEMA ${sql.id(schema)}`.execute(work);
  await sql`SET LOCAL search_path TO ${sql.id(schema)}`.execute(work);
}

async function readVersion(work: Transaction<Tables>): Promise<number> {
  const { rows } = await sql<{ version: number }>`SELECT version FROM data_version`.execute(work);
  return rows[0]?.version ?? 0;
}
