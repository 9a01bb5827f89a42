/** The runs that are not in history yet, and which worker projects each. */
export { Claims } from './claims.ts';
export { RedisRunRegistry } from './run-registry.ts';
