import { answerByPrompt, readScript, type ScriptOf } from '../scripted-server/script.ts';
import { apiError, type Reply } from './reply.ts';
import type { MessagesRequest } from './request.ts';

/**
 * The model's answers: a list, whose replies the session's own calls use in order, or a function that receives each
 * call. `byPrompt` and `withSubagents` make functions for two common cases.
 */
export type Script = ScriptOf<MessagesRequest, Reply>;

export type Answer = (request: MessagesRequest) => Reply;

/** Converts any script to a function of the request that remembers which replies were already used. */
export const answering = (script: Script): Answer => readScript(script, exhausted);

/** The reply if the script is too short. Clients do not retry a 400, so the test fails at once, with the reason. */
const exhausted = (request: MessagesRequest): Reply =>
  apiError(400, `The script has no reply for the prompt ${JSON.stringify(request.prompt)}.`);

/**
 * Makes a script that answers the session's own calls from `main`, and a subagent's calls from the entry whose key the
 * subagent's prompt contains.
 */
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
 * Makes a script for servers with many sessions. Each time that a session sends a prompt, the replies begin with the
 * first reply of the entry whose key the prompt contains. The requests of a subagent are answered in the same way, by
 * the prompt that the subagent's parent sent.
 */
export const byPrompt = (entries: Record<string, Reply[]>): Script =>
  answerByPrompt(
    entries,
    ({ sessionId, agentId, promptIndex }) => [sessionId, agentId, promptIndex].join('/'),
    exhausted,
  );
