/** What servers need to act as one: leases, a board, inboxes, upserts for readers elsewhere. */
export { RedisBoard } from './board.ts';
export { RedisInboxes } from './inboxes.ts';
export { RedisLeases } from './leases.ts';
export { RedisUpsertStreams } from './upsert-streams.ts';
