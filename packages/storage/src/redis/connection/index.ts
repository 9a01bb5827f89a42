/**
 * The connections to one Redis or to the nodes of a cluster. In: commands and scripts, with their keys. Out: replies,
 * or errors with the reason.
 */
export { blockMs } from './connections.ts';
export { isForeignKey, isReply } from './failures.ts';
export { Keys } from './keys.ts';
export { retryWhile } from './retry-while.ts';
export { RedisLink } from './link.ts';
export { scripts } from './scripts.ts';
export { describeRedis } from './describe.ts';
export type { RedisReport } from './describe.ts';
