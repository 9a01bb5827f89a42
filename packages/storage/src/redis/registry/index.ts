/** The runs that are not in history yet. In: runs that begin, and that are stored. Out: to each worker, its own. */
export { Claims } from './claims.ts';
export { RedisRunRegistry } from './run-registry.ts';
