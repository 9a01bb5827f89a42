/**
 * One session: its agent, its message queue, its turns, its record, its open approvals. In: commands of users, the
 * agent's drafts. Out: messages to the agent, turns, a record in the store, changes for subscribers.
 */
export { AttachedClients } from './attached-clients.ts';
export { SessionCache } from './session-cache.ts';
export {
  withFinalNotice,
  newerFilesNotice,
  importConversation,
  noticeId,
  positionSuffix,
} from './fork-notices.ts';
export { IdleProcesses } from './idle-processes.ts';
export { type AgentReport, readLastKnown } from './last-known.ts';
export type { Cluster, SessionOptions, SharedSession } from './session-options.ts';
export { type NewRecord, sessionName, newRecord, summarize } from './session-record.ts';
export { assertSupports } from './session-agent.ts';
export { SessionListSubscribers } from './session-list-subscribers.ts';
export { Session } from './session.ts';
