import { setTimeout } from 'node:timers/promises';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { Client, type Pool } from 'pg';

/** How long to wait for a connection if PostgreSQL has none to spare (ms). */
export const PATIENCE_MS = 10_000;
/** The longest pause before the first retry, and before any (ms). */
const pause = { first: 100, longest: 1_000 };

/** SQLSTATE too_many_connections: in total, per user, or besides those reserved for administrators. */
const tooManyConnections = '53300';

/**
 * A pool that waits if PostgreSQL refuses a connection because it has too many: other clients close theirs, or one of
 * our own becomes free. After `PATIENCE_MS` it throws PostgreSQL's last error. All else is the pool's.
 */
export function patientPool(pool: Pool): PostgresPool {
  return {
    Client,
    options: pool.options,
    connect: async () => connect(pool),
    end: async () => pool.end(),
  };
}

async function connect(pool: Pool): Promise<PostgresPoolClient> {
  const deadline = performance.now() + PATIENCE_MS;
  for (let longest = pause.first; ; longest = Math.min(longest * 2, pause.longest)) {
    try {
      return await pool.connect();
    } catch (error) {
      const left = deadline - performance.now();
      if (!isTooMany(error) || left <= 0) throw error;
      // A random wait, so that servers do not retry at the same moment.
      await setTimeout(Math.min(left, longest * (0.5 + Math.random() / 2)));
    }
  }
}

function isTooMany(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === tooManyConnections;
}
