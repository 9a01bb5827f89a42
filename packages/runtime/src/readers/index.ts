/**
 * Those who are shown a session. In: events that the log has, and what else becomes of the session. Out: messages, to
 * each reader as many as it can take, and to one that fell behind what it lacks. Nothing of it reaches the agent.
 */
export { subscribeWhenFound } from './deferred-subscription.ts';
export { followRun, wholeRun } from './follow-run.ts';
export type { SessionReaders } from './session-readers.ts';
export { WatchedSession } from './watched-session.ts';
