import { answerByPrompt, type ScriptOf } from '../scripted-server/script.ts';
import { type ChatReply, httpError } from './reply.ts';
import type { ChatRequest } from './request.ts';

/** The model's answers: a list whose replies are used in order, or a function of each request. */
export type ChatScript = ScriptOf<ChatRequest, ChatReply>;

/** The reply if the script is too short. Clients do not retry a 400, so the test fails at once, with the reason. */
export const exhausted = (request: ChatRequest): ChatReply =>
  httpError(400, `The script has no reply for the prompt ${JSON.stringify(request.prompt)}.`);

/**
 * Makes a script for servers with many sessions. The replies to each prompt begin with the first reply of the entry
 * whose key the prompt contains. Equal prompts are distinguished by the number of messages before them.
 */
export const byPrompt = (entries: Record<string, ChatReply[]>): ChatScript =>
  answerByPrompt(
    entries,
    ({ body, promptIndex }) => JSON.stringify(body.messages.slice(0, promptIndex + 1)),
    exhausted,
  );
