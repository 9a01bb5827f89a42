/** Values that come from more than one source and must mean the same in each. */
import { splitRedisUrls } from '@liminal/storage/redis';
import { z } from 'zod';

/** 0 takes any free port. */
export const Port = z.int('must be a whole number').min(0).max(65_535);
/** A port as text, from a flag or variable. */
export const PortText = z.string().regex(/^\d+$/, 'must be a number').transform(Number).pipe(Port);
export const Host = z
  .string()
  .min(1)
  .regex(/^\S+$/, 'must be a host name or address')
  .toLowerCase();
/** Used in links and headers, and guards programs: long enough, and without characters that need quoting. */
export const Token = z
  .string()
  .min(8, 'must have at least 8 characters')
  .regex(/^[\w.~-]+$/, 'may hold only letters, digits and . _ ~ -');

/** One Redis, or nodes of a cluster, separated by commas; a password may contain commas too. */
export const RedisUrl = z.string().refine((urls) => splitRedisUrls(urls).every(isRedisUrl), {
  error:
    'must be redis://host:port or rediss://host:port; of a Redis Cluster any node, or several with commas between them',
});
/** PostgreSQL, or a Convex deployment. */
export const DatabaseUrl = z.url({
  protocol: /^(postgres(ql)?|https?)$/,
  error:
    'must be postgresql://user:password@host:port/database, or the https:// address of a Convex deployment',
});

function isRedisUrl(url: string): boolean {
  return z.url({ protocol: /^rediss?$/ }).safeParse(url).success;
}
