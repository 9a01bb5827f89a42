/**
 * The registry of the runs that are not in history yet. In: runs that begin, and runs that are stored. Out: the runs of
 * each worker.
 */
export { Claims } from './claims.ts';
export { RedisRunRegistry } from './run-registry.ts';
