import { answerByPrompt, readScript, type ScriptOf } from '../scripted-server/script.ts';
import { apiError, type Reply } from './reply.ts';
import type { MessagesRequest } from './request.ts';

/**
 * The model's answers. A list is used up by the session's own calls in order; a function gets each call; `byPrompt` and
 * `withSubagents` are functions for two common cases.
 */
export type Script = ScriptOf<MessagesRequest, Reply>;

export type Answer = (request: MessagesRequest) => Reply;

/** Turns any script into a function of the request that keeps track of used answers. */
export const answering = (script: Script): Answer => readScript(script, exhausted);

/** Clients do not retry a 400, so a test whose script is too short fails at once, with the reason. */
const exhausted = (request: MessagesRequest): Reply =>
  apiError(400, `The script has no reply for the prompt ${JSON.stringify(request.prompt)}.`);

/** The session's own calls are answered from `main`; a subagent's from the entry whose key its prompt contains. */
export function withSubagents(main: Script, subagents: Record<string, Script>): Script {
  const answerMain = answering(main);
  const answers = Object.entries(subagents).map(([key, script]) => ({
    key,
    answer: answering(script),
  }));
  return (request) => {
    if (request.kind !== 'subagent') return answerMain(request);
    const found = answers.find(({ key }) => request.prompt.includes(key));
    return found === undefined ? exhausted(request) : found.answer(request);
  };
}

/**
 * For servers with many sessions: each prompt is answered from the start of the entry whose key it contains, in any
 * session and each time that it is sent. The requests of a subagent are answered in the same way, by the prompt that
 * its parent sent.
 */
export const byPrompt = (entries: Record<string, Reply[]>): Script =>
  answerByPrompt(
    entries,
    ({ sessionId, agentId, promptIndex }) => [sessionId, agentId, promptIndex].join('/'),
    exhausted,
  );
