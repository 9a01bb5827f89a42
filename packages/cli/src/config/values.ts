/**
 * Schemas of values that may come from a flag, a variable or the file. A value must have the same meaning in each of
 * these.
 */
import { splitRedisUrls } from '@liminal/storage/redis';
import { z } from 'zod';

/** 0 chooses any free port. */
export const Port = z.int('must be a whole number').min(0).max(65_535);
/** A port as text, from a flag or variable. */
export const PortText = z.string().regex(/^\d+$/, 'must be a number').transform(Number).pipe(Port);
export const Host = z
  .string()
  .min(1)
  .regex(/^\S+$/, 'must be a host name or address')
  .toLowerCase();
/**
 * The token is part of links and headers, so it may only contain characters that need no escaping. The token gives
 * access to programs on this machine, so it must be long.
 */
export const Token = z
  .string()
  .min(8, 'must have at least 8 characters')
  .regex(/^[\w.~-]+$/, 'may hold only letters, digits and . _ ~ -');

/**
 * The URL of one Redis, or several URLs of nodes of one cluster, separated by commas. A password may also contain
 * commas.
 */
export const RedisUrl = z.string().refine((urls) => splitRedisUrls(urls).every(isRedisUrl), {
  error:
    'must be redis://host:port or rediss://host:port; for a Redis Cluster one node, or several separated by commas',
});
/** The URL of a PostgreSQL or of a Convex deployment. */
export const DatabaseUrl = z.url({
  protocol: /^(postgres(ql)?|https?)$/,
  error:
    'must be postgresql://user:password@host:port/database, or the https:// address of a Convex deployment',
});

function isRedisUrl(url: string): boolean {
  return z.url({ protocol: /^rediss?$/ }).safeParse(url).success;
}
