/** What servers need to act as one: leases, a board, inboxes, and upserts for other readers. */
export { RedisBoard } from './board.ts';
export { RedisInboxes } from './inboxes.ts';
export { RedisLeases } from './leases.ts';
export { RedisUpsertStreams } from './upsert-streams.ts';
