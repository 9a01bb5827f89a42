/**
 * A typed client for browsers and Node ≥ 22: requests, live sessions, and a connection that reconnects automatically.
 */
export { type ClientOptions, createClient, type LiminalClient } from './client.ts';
export { describeFile } from './files/describe-file.ts';
export type { Files, Upload } from './files/files.ts';
export { fileUri, localUri, withUri } from './files/local-uri.ts';
export type { FileStorage } from './files/storage.ts';
export { ApiError, describeError, isRetryable } from './http/api-error.ts';
export { createRequests, type Requests } from './http/requests.ts';
/**
 * The reducer of a run's events (seed 001), which history also uses, and the functions that render the reducer's
 * result.
 */
export {
  foldResponse as applyEvent,
  emptyResponse,
  responseToUpserts,
  toResponse,
} from '@liminal/protocol';
export { newId } from './new-id.ts';
export type { OutboxStorage, UnsentMessage } from './outbox/storage.ts';
export { type RunMessage, runMessages } from './run/run-messages.ts';
export type { RunStore, RunView } from './run/run-store.ts';
export { applyMessage } from './session/apply-message.ts';
export { applyOlderPage } from './session/history.ts';
export { continuationNote, type JoinedTurn, joinTurns } from './session/join-turns.ts';
export type { SessionStore } from './session/session-store.ts';
export { stopReason } from './session/stop-reason.ts';
export { emptyView, type PendingMessage, type SessionView, type TurnView } from './session/view.ts';
export { findSession, type Projects } from './sessions/session-list.ts';
export type { SessionsView } from './sessions/sessions-store.ts';
export type { ConnectionStatus } from './socket/live-socket.ts';
export type { Store } from './store.ts';
