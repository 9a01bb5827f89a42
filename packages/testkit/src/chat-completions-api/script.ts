import { answerByPrompt, type ScriptOf } from '../scripted-server/script.ts';
import { type ChatReply, httpError } from './reply.ts';
import type { ChatRequest } from './request.ts';

/** What the model answers: a list that is used up in order, or a function that sees each request. */
export type ChatScript = ScriptOf<ChatRequest, ChatReply>;

/** A 400 is not retried, so a script that is too short shows at once and says why. */
export const exhausted = (request: ChatRequest): ChatReply =>
  httpError(400, `The script has no reply for the prompt ${JSON.stringify(request.prompt)}.`);

/**
 * For servers that many sessions talk to: each prompt is answered from the start of the entry whose key it contains. Two
 * prompts are told apart by what precedes them.
 */
export const byPrompt = (entries: Record<string, ChatReply[]>): ChatScript =>
  answerByPrompt(
    entries,
    ({ body, promptIndex }) => JSON.stringify(body.messages.slice(0, promptIndex + 1)),
    exhausted,
  );
