/**
 * The subscribers of a session. In: events that the log has accepted, and other changes of the session. Out:
 * messages, as many as each subscriber's transport can take; a subscriber that fell behind later gets the events that
 * it missed. No subscriber's action reaches the agent from here.
 */
export { subscribeWhenFound } from './deferred-subscription.ts';
export { followRun, loadRun } from './follow-run.ts';
export type { SessionSubscribers } from './session-subscribers.ts';
export { LocalSubscribers } from './local-subscribers.ts';
