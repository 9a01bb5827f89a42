import { answerByPrompt, readScript, type ScriptOf } from '../scripted-server/script.ts';
import { httpError, type ModelReply } from './reply.ts';
import type { ResponsesRequest } from './request.ts';

/** The model's answers: a list that is used up in order, or a function of each request. */
export type ModelScript = ScriptOf<ResponsesRequest, ModelReply>;

/**
 * Turns any script into a function of the request that keeps track of used answers. A call of an MCP server's tool that
 * does not exist yet is repeated: Codex waits for such servers for a second, then begins its turn without them.
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

/** A 400 is not retried, so a script that is too short fails at once, with the reason. */
const exhausted = (request: ResponsesRequest): ModelReply =>
  httpError(400, `The script has no reply for the prompt ${JSON.stringify(request.prompt)}.`);

/**
 * For servers with many sessions: each prompt, wherever and however often it is sent, is answered from the start of the
 * entry whose key it contains.
 */
export const byModelPrompt = (entries: Record<string, ModelReply[]>): ModelScript =>
  answerByPrompt(
    entries,
    ({ sessionId, promptIndex }) => [sessionId, promptIndex].join('/'),
    exhausted,
  );
