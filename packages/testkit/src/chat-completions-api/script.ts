import { answerByPrompt, type ScriptOf } from '../scripted-server/script.ts';
import { type ChatReply, httpError } from './reply.ts';
import type { ChatRequest } from './request.ts';

/** The model's answers: a list that is used up in order, or a function of each request. */
export type ChatScript = ScriptOf<ChatRequest, ChatReply>;

/** Clients do not retry a 400, so a test whose script is too short fails at once, with the reason. */
export const exhausted = (request: ChatRequest): ChatReply =>
  httpError(400, `The script has no reply for the prompt ${JSON.stringify(request.prompt)}.`);

/**
 * For servers with many sessions: each prompt is answered from the start of the entry whose key it contains. The number
 * of earlier messages distinguishes equal prompts.
 */
export const byPrompt = (entries: Record<string, ChatReply[]>): ChatScript =>
  answerByPrompt(
    entries,
    ({ body, promptIndex }) => JSON.stringify(body.messages.slice(0, promptIndex + 1)),
    exhausted,
  );
