/**
 * The registry of the runs that are not yet in history. In: runs that begin, and runs that are stored. Out: each
 * worker's runs.
 */
export { Claims } from './claims.ts';
export { RedisRunRegistry } from './run-registry.ts';
