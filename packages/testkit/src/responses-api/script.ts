import { answerByPrompt, readScript, type ScriptOf } from '../scripted-server/script.ts';
import { httpError, type ModelReply } from './reply.ts';
import type { ResponsesRequest } from './request.ts';

/** The model's answers: a list whose replies are used in order, or a function of each request. */
export type ModelScript = ScriptOf<ResponsesRequest, ModelReply>;

/**
 * Converts any script to a function of the request that remembers which replies were already used. If the request lacks
 * a tool of an MCP server, the reply with that tool's call is repeated: Codex waits only a second for MCP servers, and
 * then begins its turn without them.
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

/** The reply if the script is too short. Clients do not retry a 400, so the test fails at once, with the reason. */
const exhausted = (request: ResponsesRequest): ModelReply =>
  httpError(400, `The script has no reply for the prompt ${JSON.stringify(request.prompt)}.`);

/**
 * Makes a script for servers with many sessions. Each time that a session sends a prompt, the replies begin with the
 * first reply of the entry whose key the prompt contains.
 */
export const byModelPrompt = (entries: Record<string, ModelReply[]>): ModelScript =>
  answerByPrompt(
    entries,
    ({ sessionId, promptIndex }) => [sessionId, promptIndex].join('/'),
    exhausted,
  );
