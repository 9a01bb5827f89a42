/**
 * Lets several servers act as one server. In: owners and states of sessions, messages between servers, tasks for
 * workers, upserts. Out: the same data, for the other servers and for readers in any program.
 */
export { RedisBoard } from './board.ts';
export { RedisInboxes } from './inboxes.ts';
export { RedisLeases } from './leases.ts';
export { RedisTaskQueue } from './task-queue.ts';
export { RedisUpsertStreams } from './upsert-streams.ts';
