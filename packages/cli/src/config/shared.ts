import { errors } from '../errors.ts';
import { choose } from './choose.ts';
import type { ConfigFile } from './file.ts';
import { DatabaseUrl, RedisUrl } from './values.ts';

/** The Redis and the database that several servers share. */
export interface SharedConfig {
  redisUrl: string;
  databaseUrl: string;
  /** Prefix of the names of all keys in Redis. */
  redisPrefix: string;
  /** The PostgreSQL schema of the tables. */
  databaseSchema: string;
  /** The secret that a Convex deployment requires with each call; only for Convex. */
  databaseSecret: string | undefined;
}

/**
 * Redis for the log and a database for history: several servers need both, a single server needs neither. Throws
 * `ConfigError`.
 */
export function sharedConfig(
  file: ConfigFile,
  variable: (name: string) => string | undefined,
): SharedConfig | undefined {
  const redisUrl =
    choose(RedisUrl, ['LIMINAL_REDIS_URL', variable('LIMINAL_REDIS_URL')]) ?? file.redisUrl;
  const databaseUrl =
    choose(DatabaseUrl, ['LIMINAL_DATABASE_URL', variable('LIMINAL_DATABASE_URL')]) ??
    file.databaseUrl;
  if (redisUrl === undefined && databaseUrl === undefined) return undefined;
  if (redisUrl === undefined)
    throw errors.INVALID_CONFIG.counterpart('LIMINAL_DATABASE_URL', 'LIMINAL_REDIS_URL');
  if (databaseUrl === undefined)
    throw errors.INVALID_CONFIG.counterpart('LIMINAL_REDIS_URL', 'LIMINAL_DATABASE_URL');
  const databaseSecret = variable('LIMINAL_DATABASE_SECRET');
  if (isConvex(databaseUrl) && databaseSecret === undefined) {
    throw errors.INVALID_CONFIG.convexSecret();
  }
  return {
    redisUrl,
    databaseUrl,
    redisPrefix: file.redisPrefix ?? 'codex',
    databaseSchema: file.databaseSchema ?? 'liminal',
    databaseSecret,
  };
}

export function isConvex(databaseUrl: string): boolean {
  return /^https?:/.test(databaseUrl);
}
