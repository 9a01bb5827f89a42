/** Which runs there are that are not history yet, and who brings each into it. */
export { Claims } from './claims.ts';
export { RedisRunRegistry } from './run-registry.ts';
