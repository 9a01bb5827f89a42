/**
 * The subscribers of a session. In: events that the log has accepted, and other changes of the session. Out: messages,
 * as many as each subscriber's transport can take. A subscriber that fell behind gets the missed events later. The code
 * in this folder never calls the agent.
 */
export { subscribeWhenFound } from './deferred-subscription.ts';
export { followRun, loadRun } from './follow-run.ts';
export type { SessionSubscribers } from './session-subscribers.ts';
export { LocalSubscribers } from './local-subscribers.ts';
