import { setTimeout } from 'node:timers/promises';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { Client, type Pool } from 'pg';

/** How long a connection is waited for where PostgreSQL has none to spare (ms). */
export const PATIENCE_MS = 10_000;
/** The longest pause before the first further attempt, and before any (ms). */
const pause = { first: 100, longest: 1_000 };

/** SQLSTATE too_many_connections: of all, of a user's, or of those that are not kept for administrators. */
const tooManyConnections = '53300';

/**
 * A pool that waits where PostgreSQL refuses a connection since it has too many: others let theirs go, or one of our
 * own comes back. What PostgreSQL said last is thrown when that takes too long. All else is the pool's.
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
      // Not all at the same moment.
      await setTimeout(Math.min(left, longest * (0.5 + Math.random() / 2)));
    }
  }
}

function isTooMany(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === tooManyConnections;
}
