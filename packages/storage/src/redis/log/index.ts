/**
 * The event log: one stream per run. In: events of the run's writer. Out: the same events, for readers and followers.
 */
export { Announcements, group, announcedIn } from './announcements.ts';
export type { Announced } from './announcements.ts';
export { Appender } from './appender.ts';
export { RedisEventLog } from './event-log.ts';
export { RedisFollowers } from './redis-followers.ts';
export { RunStreams } from './run-streams.ts';
