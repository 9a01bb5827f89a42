/**
 * One turn of one session, from its first event to its last. In: the agent's drafts, time limits, the user's stop.
 * Out: events that are numbered and ended by exactly one terminal event; listeners get them when the log has accepted
 * them. This folder does not depend on sessions or subscribers.
 */
export { DeltaPace } from './delta-pace.ts';
export { isLargeRun } from './large.ts';
export type { WrittenRun } from './run-writer.ts';
export { Supervisor } from './supervisor.ts';
export { backInQueue, openSteered, type SteeredMessage, Turn } from './turn.ts';
export { Watchdog } from './watchdog.ts';
