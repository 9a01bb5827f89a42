/**
 * What servers need to act as one. In: who owns a session, what its state is, what one asks another, tasks for workers, upserts. Out: the
 * same, for the other servers and for readers of any program.
 */
export { RedisBoard } from './board.ts';
export { RedisInboxes } from './inboxes.ts';
export { RedisLeases } from './leases.ts';
export { RedisTaskQueue } from './task-queue.ts';
export { RedisUpsertStreams } from './upsert-streams.ts';
