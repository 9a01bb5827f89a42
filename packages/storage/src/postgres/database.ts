import type { Transaction } from 'kysely';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { Pool } from 'pg';
import { StorageError } from '../errors.ts';
import { placeOf, reasonOf } from './failures.ts';
import { patientPool } from './patient-pool.ts';
import { migrate } from './schema.ts';
import type { Tables } from './tables.ts';

/** Connections of one server, and what it waits for at most (ms). */
const limits = {
  max: 10,
  connectionTimeoutMillis: 10_000,
  statement_timeout: 30_000,
  /** Also when the database does not answer any more. */
  query_timeout: 40_000,
  idle_in_transaction_session_timeout: 60_000,
  idleTimeoutMillis: 60_000,
  maxLifetimeSeconds: 1_800,
};

/** Connections to the database, opened when needed: one that was cut is replaced by the next use. */
export class PostgresDatabase {
  readonly #db: Kysely<Tables>;
  readonly #place: string;

  private constructor(db: Kysely<Tables>, place: string) {
    this.#db = db;
    this.#place = place;
  }

  /** Throws StorageError `DATABASE_UNUSABLE` or `DATA_TOO_NEW`. */
  static async open(url: string, schema: string): Promise<PostgresDatabase> {
    return use(url, async (db) => {
      await migrate(db, schema);
      return new PostgresDatabase(db.withSchema(schema), placeOf(url));
    });
  }

  /** Its name and version; changes nothing. Throws StorageError `DATABASE_UNUSABLE`. */
  static async describe(url: string): Promise<string> {
    return use(url, async (db) => {
      const { rows } = await sql<{ server_version: string }>`SHOW server_version`.execute(db);
      await db.destroy();
      return `PostgreSQL ${rows[0]?.server_version.split(' ')[0]}`;
    });
  }

  /** Does all of the work or nothing of it. Throws StorageError `STORE_WRITE_FAILED`, or the one that the work throws. */
  async write<T>(work: (db: Transaction<Tables>) => Promise<T>): Promise<T> {
    return this.#transact('STORE_WRITE_FAILED', 'written', async () =>
      this.#db.transaction().execute(work),
    );
  }

  /** All that the work reads is of one moment. Throws StorageError `STORE_READ_FAILED`. */
  async read<T>(work: (db: Transaction<Tables>) => Promise<T>): Promise<T> {
    return this.#transact('STORE_READ_FAILED', 'read', async () =>
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
    what: string,
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      if (cause instanceof StorageError) throw cause;
      const message = `The database ${this.#place} could not be ${what}: ${reasonOf(cause)}. It can be tried again.`;
      throw new StorageError(code, message, { cause });
    }
  }
}

/** Opens the database for a first use of it, and closes it again where that fails. */
async function use<T>(url: string, first: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
  const pool = new Pool({
    ...limits,
    connectionString: url,
    application_name: 'liminal',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  });
  // A connection that is cut fails what runs on it, if anything does, and the pool forgets it: there is no more to do.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: patientPool(pool) }) });
  try {
    return await first(db);
  } catch (cause) {
    await db.destroy();
    if (cause instanceof StorageError) throw cause;
    const message = `The database ${placeOf(url)} cannot be used: ${reasonOf(cause)}.`;
    throw new StorageError('DATABASE_UNUSABLE', message, { cause });
  }
}
