/**
 * One turn of one session, from its first event to its last. In: what the agent says (drafts), the limits of time, a
 * person's stop. Out: events in the log, numbered, closed and ended once; whoever listens hears them when the log has
 * them. Knows no session and no reader.
 */
export { isLargeRun } from './large.ts';
export type { WrittenRun } from './run-writer.ts';
export { Supervisor } from './supervisor.ts';
export { Turn } from './turn.ts';
