import { thrownMessage } from '@liminal/protocol';
import type { Transaction } from 'kysely';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { Pool } from 'pg';
import { errors, StorageError } from '../errors.ts';
import { retryingPool, connectTimeoutMs } from './retrying-pool.ts';
import { migrate } from './schema.ts';
import type { Tables } from './tables.ts';

/** Describes PostgreSQL's errors for people: https://www.postgresql.org/docs/current/errcodes-appendix.html */

const advice = new Map([
  ['28P01', 'the password is wrong; set the right one in the URL'],
  ['28000', 'this user may not connect; check the URL and pg_hba.conf'],
  ['3D000', 'there is no such database; create it'],
  ['42501', 'this user may not do that; grant it the rights'],
  ['25006', 'it does not accept writes now; connect to the primary'],
  ['53100', 'its disk is full; free some space'],
  [
    '53300',
    `it had no free connection for ${connectTimeoutMs / 1_000} s; increase max_connections`,
  ],
  ['57P03', 'it is starting or stopping; Liminal will retry'],
  ['57014', 'the query took too long; check the load of the database'],
  ['ECONNREFUSED', 'nothing listens there; start it'],
  ['ENOTFOUND', 'there is no such host; check the URL'],
]);

/** The number of connections of one server, and the longest times to wait (ms). */
const limits = {
  max: 10,
  connectionTimeoutMillis: 10_000,
  statement_timeout: 30_000,
  /** Unlike `statement_timeout`, this timeout also works if the database no longer answers. */
  query_timeout: 40_000,
  idle_in_transaction_session_timeout: 60_000,
  idleTimeoutMillis: 60_000,
  maxLifetimeSeconds: 1_800,
};

/**
 * Connections to the database. A connection is opened when it is needed; a lost connection is replaced on the next use.
 */
export class PostgresDatabase {
  readonly #db: Kysely<Tables>;
  readonly #address: string;

  private constructor(db: Kysely<Tables>, address: string) {
    this.#db = db;
    this.#address = address;
  }

  /** Throws StorageError `DATABASE_UNUSABLE` or `DATA_TOO_NEW`. */
  static async open(url: string, schema: string): Promise<PostgresDatabase> {
    return openPool(url, async (db) => {
      await migrate(db, schema);
      return new PostgresDatabase(db.withSchema(schema), databaseAddress(url));
    });
  }

  /** Returns the database's name and version, and changes nothing. Throws StorageError `DATABASE_UNUSABLE`. */
  static async describe(url: string): Promise<string> {
    return openPool(url, async (db) => {
      const { rows } = await sql<{ server_version: string }>`SHOW server_version`.execute(db);
      await db.destroy();
      return `PostgreSQL ${rows[0]?.server_version.split(' ')[0]}`;
    });
  }

  /** Runs the work in a transaction. Throws StorageError `STORE_WRITE_FAILED`, or the work's own error. */
  async write<T>(work: (db: Transaction<Tables>) => Promise<T>): Promise<T> {
    return this.#transact('STORE_WRITE_FAILED', async () => this.#db.transaction().execute(work));
  }

  /** Runs the work on one consistent snapshot. Throws StorageError `STORE_READ_FAILED`. */
  async read<T>(work: (db: Transaction<Tables>) => Promise<T>): Promise<T> {
    return this.#transact('STORE_READ_FAILED', async () =>
      this.#db
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute(work),
    );
  }

  async close(): Promise<void> {
    await this.#db.destroy();
  }

  async #transact<T>(
    code: 'STORE_WRITE_FAILED' | 'STORE_READ_FAILED',
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      if (cause instanceof StorageError) throw cause;
      throw errors[code].failed(`The database ${this.#address}`, reasonOf(cause), { cause });
    }
  }
}

/** Opens the database for a first use. If the first use fails, closes the database. */
async function openPool<T>(url: string, first: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
  const pool = new Pool({
    ...limits,
    connectionString: url,
    application_name: 'liminal',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  });
  // A lost connection makes its current query fail, and the pool drops the connection, so nothing else needs to be
  // done.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: retryingPool(pool) }) });
  try {
    return await first(db);
  } catch (cause) {
    await db.destroy();
    if (cause instanceof StorageError) throw cause;
    throw errors.DATABASE_UNUSABLE.postgres(databaseAddress(url), reasonOf(cause), { cause });
  }
}

/** Returns the problem as the end of a sentence, with advice if the problem is known. */
function reasonOf(error: unknown): string {
  // If a host has several addresses, the error is an AggregateError with an error for each address.
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const message = thrownMessage(inner);
  const code = inner instanceof Error && 'code' in inner ? String(inner.code) : '';
  const known = advice.get(code);
  return known === undefined ? message : `${known} (${message})`;
}

/** The database's address without user and password. */
function databaseAddress(url: string): string {
  if (!URL.canParse(url)) return 'that LIMINAL_DATABASE_URL names';
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
