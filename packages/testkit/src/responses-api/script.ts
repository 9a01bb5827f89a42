import { answerByPrompt, readScript, type ScriptOf } from '../scripted-server/script.ts';
import { httpError, type ModelReply } from './reply.ts';
import type { ResponsesRequest } from './request.ts';

/** The model's answers: a list that is used up in order, or a function of each request. */
export type ModelScript = ScriptOf<ResponsesRequest, ModelReply>;

/**
 * Turns any script into a function of the request that keeps track of used answers. If the request lacks a tool of an
 * MCP server, its call is repeated: Codex waits only a second for MCP servers, then begins its turn without them.
 */
export function answering(script: ModelScript): (request: ResponsesRequest) => ModelReply {
  const reply = readScript(script, exhausted);
  const last = new Map<string, ModelReply>();
  return (request) => {
    const { sessionId, toolResults } = request;
    const isEarly = Object.values(toolResults).some((text) => text.startsWith(notThere));
    const answer = (isEarly ? last.get(sessionId) : undefined) ?? reply(request);
    last.set(sessionId, answer);
    return answer;
  };
}

const notThere = 'unsupported call: mcp__';

/** Clients do not retry a 400, so a test whose script is too short fails at once, with the reason. */
const exhausted = (request: ResponsesRequest): ModelReply =>
  httpError(400, `The script has no reply for the prompt ${JSON.stringify(request.prompt)}.`);

/**
 * For servers with many sessions: each prompt is answered from the start of the entry whose key it contains, in any
 * session and each time that it is sent.
 */
export const byModelPrompt = (entries: Record<string, ModelReply[]>): ModelScript =>
  answerByPrompt(
    entries,
    ({ sessionId, promptIndex }) => [sessionId, promptIndex].join('/'),
    exhausted,
  );
