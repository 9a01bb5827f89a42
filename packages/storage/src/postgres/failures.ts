import { thrownMessage } from '@liminal/protocol';
import { connectTimeoutMs } from './retrying-pool.ts';

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

/** The problem as the end of a sentence, with advice if there is any. */
export function reasonOf(error: unknown): string {
  // If a host has several addresses, the error is an AggregateError with an error for each address.
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const message = thrownMessage(inner);
  const code = inner instanceof Error && 'code' in inner ? String(inner.code) : '';
  const known = advice.get(code);
  return known === undefined ? message : `${known} (${message})`;
}

/** The database's address without user and password. */
export function databaseAddress(url: string): string {
  if (!URL.canParse(url)) return 'that LIMINAL_DATABASE_URL names';
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
