/**
 * The environment of agents in tests: scripted model servers, recordings of real agents, and the programs that make
 * recordings.
 */
export { acpAgent, type AcpAgent } from './acp-agent/acp-agent.ts';
export { contractPrompts, contractScript } from './acp-agent/contract-script.ts';
export type { AcpAgentControl, Received } from './acp-agent/control.ts';
export { fuzzLines } from './acp-agent/fuzz/fuzz.ts';
export { mutate } from './acp-agent/fuzz/mutate.ts';
export { seeded, type Random } from './acp-agent/fuzz/random.ts';
export { sampleLines, sampleUpdates } from './acp-agent/fuzz/sample-lines.ts';
export { shapes } from './acp-agent/shapes.ts';
export type { AgentScript, Step } from './acp-agent/script.ts';
export * as chat from './chat-completions-api/reply.ts';
export type { ChatRequest } from './chat-completions-api/request.ts';
export { byPrompt as byChatPrompt, type ChatScript } from './chat-completions-api/script.ts';
export { startChatCompletionsApi, type ChatCompletionsApi } from './chat-completions-api/server.ts';
export { claudeEnvironment } from './claude-code/environment.ts';
export { claudeRecordingNames, loadClaudeRecording } from './claude-code/fixtures.ts';
export type { ClaudeRecording, HostAction, RecordedEntry } from './claude-code/recording.ts';
export { codexAcpCommand, codexBinary } from './codex/binary.ts';
export { CodexProcess } from './codex/codex-process.ts';
export { codexEnvironment, makeCodexHome, type CodexHomeOptions } from './codex/codex-home.ts';
export { codexRecordingNames, loadCodexRecording } from './codex/fixtures.ts';
export type { CodexRecording, RecordedLine, RpcMessage } from './codex/recording.ts';
export { applyPatch, execCommand, updatePlan, viewImage, writeStdin } from './codex/tools.ts';
export {
  startLlamaServer,
  type LlamaServer,
  type LlamaServerOptions,
} from './llama-server/llama-server.ts';
export { afterTools, callInWords, tinyModel } from './llama-server/tiny-model.ts';
export type { ModelEntry } from './messages-api/models.ts';
export {
  apiError,
  given,
  reply,
  streamError,
  text,
  thinking,
  toolUse,
  type Reply,
} from './messages-api/reply.ts';
export type { MessagesRequest } from './messages-api/request.ts';
export { byPrompt, withSubagents, type Script } from './messages-api/script.ts';
export { startMessagesApi, type MessagesApi } from './messages-api/server.ts';
export {
  answer,
  customCall,
  errorEvent,
  failed,
  functionCall,
  httpError,
  incomplete,
  message,
  reasoning,
  refusal,
  webSearch,
  type ModelReply,
} from './responses-api/reply.ts';
export type { ResponsesRequest } from './responses-api/request.ts';
export { byModelPrompt, type ModelScript } from './responses-api/script.ts';
export { startResponsesApi, type ResponsesApi } from './responses-api/server.ts';
export { gate, type Gate } from './scripted-server/gate.ts';
export { cut, pause } from './scripted-server/stream-incident.ts';
export { startProxy, type TestProxy } from './scripted-server/proxy.ts';
export { held, times } from './scripted-server/script.ts';
export {
  geminiCall,
  geminiError,
  geminiReply,
  geminiThought,
  startGeminiApi,
  type GeminiApi,
  type GeminiRequest,
  type GeminiScript,
} from './gemini-api/gemini-api.ts';
export { ageGeminiSessions, geminiEnvironment } from './npm-agents/gemini.ts';
export { npmAgent } from './npm-agents/npm-agent.ts';
export { qwenEnvironment } from './npm-agents/qwen.ts';
export { opencodeBinary, opencodeEnvironment } from './opencode/opencode.ts';
export { greeter, noteKeeper } from './mcp-server/index.ts';
export { startSignedInServer, type SignedInServer } from './mcp-server/signed-in-server.ts';
export { pixel } from './pixel.ts';
export {
  postgresRows,
  startPostgres,
  testPostgres,
  type PostgresServer,
  type TestPostgres,
} from './services/postgres.ts';
export {
  startRedisCluster,
  type RedisClusterOptions,
  type TestRedisCluster,
} from './services/redis-cluster.ts';
export { startRedis, testRedis, type RedisServer, type TestRedis } from './services/redis.ts';
export { freePort } from './services/server-process.ts';
export { makeWorkspace, type Workspace } from './workspace.ts';
export {
  type RepositoryProgram,
  repositoryPrograms,
  repositorySetup,
} from './repository-programs.ts';
