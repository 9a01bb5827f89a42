/** What tests run agents against: scripted model servers, recordings of real agents, and how to make both. */
export { claudeEnvironment, makeWorkspace, type Workspace } from './claude-code/environment.ts';
export { claudeRecordingNames, loadClaudeRecording } from './claude-code/fixtures.ts';
export type { ClaudeRecording, HostAction, RecordedEntry } from './claude-code/recording.ts';
export { gate, type Gate } from './messages-api/gate.ts';
export {
  apiError,
  cut,
  held,
  pause,
  reply,
  streamError,
  text,
  thinking,
  times,
  toolUse,
  type Reply,
} from './messages-api/reply.ts';
export type { MessagesRequest } from './messages-api/request.ts';
export { byPrompt, withSubagents, type Script } from './messages-api/script.ts';
export { startMessagesApi, type MessagesApi } from './messages-api/server.ts';
