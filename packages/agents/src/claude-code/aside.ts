import type { Query } from '@anthropic-ai/claude-agent-sdk';
import { messageOf } from '@liminal/protocol';
import { z } from 'zod';
import { notAnswered } from '../errors.ts';

/** `synthetic` are Claude Code's own words in place of an answer, about an error for example. */
const Answer = z.looseObject({ response: z.string(), synthetic: z.boolean().catch(false) });

/** What `/btw` does in the terminal. The SDK's types lack this request (`side_question`). Throws ProviderError `NOT_ANSWERED`. */
export async function askAside(query: Query, question: string): Promise<string> {
  const ask: unknown = Reflect.get(query, 'askSideQuestion');
  if (typeof ask !== 'function') throw notAnswered('This Claude Code takes no such question.');
  const told: unknown = await Promise.resolve(Reflect.apply(ask, query, [question])).catch(
    (error: unknown) => {
      throw notAnswered(messageOf(error), error);
    },
  );
  const answer = Answer.safeParse(told).data;
  if (answer === undefined) throw notAnswered('Claude Code has given none.');
  if (answer.synthetic) throw notAnswered(answer.response);
  return answer.response;
}
