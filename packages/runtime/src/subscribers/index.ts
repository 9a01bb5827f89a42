/**
 * The subscribers of a session. In: events that the log has, and other changes of the session. Out: messages, as many
 * as each subscriber can take; a subscriber that fell behind gets what it lacks. Nothing here reaches the agent.
 */
export { subscribeWhenFound } from './deferred-subscription.ts';
export { followRun, loadRun } from './follow-run.ts';
export type { SessionSubscribers } from './session-subscribers.ts';
export { LocalSubscribers } from './local-subscribers.ts';
