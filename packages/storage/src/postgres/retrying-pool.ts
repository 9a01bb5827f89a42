import { withRetries } from '@liminal/protocol';
import { setTimeout } from 'node:timers/promises';
import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import { Client, type Pool, type PoolClient } from 'pg';

/** How long to keep trying if PostgreSQL has no free connection (ms). */
export const connectTimeoutMs = 10_000;
/** The longest pause before the first retry, and the longest pause before any retry (ms). */
const pause = { first: 100, longest: 1_000 };

/**
 * SQLSTATE too_many_connections: PostgreSQL, the user or the database has no free connection; connections that are
 * reserved for administrators do not count as free.
 */
const tooManyConnections = '53300';

/**
 * A pool that waits if PostgreSQL refuses a connection because too many are open, until another client closes a
 * connection, or one of our own becomes free. After `connectTimeoutMs` it throws PostgreSQL's last error.
 *
 * After a query has timed out, the pool drops each connection that has not answered since that query began. Such a
 * connection may answer much later, in the middle of its next transaction, or never, for example if a firewall has
 * cut it. Everything else is the original pool's behaviour.
 */
export function retryingPool(pool: Pool): PostgresPool {
  /** The time of each connection's last answer, and of the start of the last query that timed out. */
  const answeredAt = new WeakMap<PoolClient, number>();
  let silentSince = -Infinity;

  const trusted = async (): Promise<PoolClient> => {
    for (;;) {
      const client = await connectWithRetry(pool);
      if ((answeredAt.get(client) ?? Infinity) >= silentSince) return client;
      client.release(true);
    }
  };
  const query = async <R>(client: PoolClient, sql: string, parameters: readonly unknown[]) => {
    const began = performance.now();
    try {
      const result: unknown = await client.query(sql, [...parameters]);
      answeredAt.set(client, performance.now());
      return result as PostgresQueryResult<R>;
    } catch (error) {
      if (isTimeout(error)) silentSince = Math.max(silentSince, began);
      throw error;
    }
  };
  return {
    Client,
    options: pool.options,
    connect: async () => {
      const client = await trusted();
      return {
        query: (sql: string, parameters: readonly unknown[]) => query(client, sql, parameters),
        release: (destroy) => client.release(destroy),
      } as PostgresPoolClient;
    },
    end: async () => pool.end(),
  };
}

async function connectWithRetry(pool: Pool): Promise<PoolClient> {
  const deadline = performance.now() + connectTimeoutMs;
  return withRetries(
    async () => pool.connect(),
    async (error, attempts) => {
      const left = deadline - performance.now();
      if (!isTooMany(error) || left <= 0) throw error;
      const longest = Math.min(pause.first * 2 ** (attempts - 1), pause.longest);
      // A random wait, so that servers do not retry at the same moment.
      await setTimeout(Math.min(left, longest * (0.5 + Math.random() / 2)));
    },
  );
}

function isTooMany(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === tooManyConnections;
}

/** Returns whether an error was caused by `query_timeout`; such an error has no code. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}
