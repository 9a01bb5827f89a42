/**
 * One session: its agent, its queue of messages, its turns, its record, the questions that wait. In: commands of people,
 * what the agent says. Out: messages to the agent, turns, a record in the store, readers that are told.
 */
export type { ApprovalPolicy } from './approvals.ts';
export { ClosedSessions } from './closed-sessions.ts';
export { IdleProcesses } from './idle-processes.ts';
export type { SessionOptions } from './session-options.ts';
export { nameOf, newRecord, summarize } from './session-record.ts';
export { SessionWatchers } from './session-watchers.ts';
export { Session } from './session.ts';
