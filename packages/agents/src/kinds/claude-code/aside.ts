import type { Query } from '@anthropic-ai/claude-agent-sdk';
import { thrownMessage } from '@liminal/protocol';
import { z } from 'zod';
import { errors } from '../../contract/errors.ts';

/** With `synthetic`, the response is not the model's answer but Claude Code's own text, for example about an error. */
const SideAnswer = z.looseObject({ response: z.string(), synthetic: z.boolean().catch(false) });

/**
 * Asks a side question, like `/btw` in the terminal. The SDK's types lack this request (`side_question`). Throws
 * ProviderError `NOT_ANSWERED`.
 */
export async function askAside(query: Query, question: string): Promise<string> {
  const ask: unknown = Reflect.get(query, 'askSideQuestion');
  if (typeof ask !== 'function') throw errors.NOT_ANSWERED.unsupported();
  const response: unknown = await Promise.resolve(Reflect.apply(ask, query, [question])).catch(
    (error: unknown) => {
      throw errors.NOT_ANSWERED.because(thrownMessage(error), { cause: error });
    },
  );
  const answer = SideAnswer.safeParse(response).data;
  if (answer === undefined) throw errors.NOT_ANSWERED.silent('Claude Code');
  if (answer.synthetic) throw errors.NOT_ANSWERED.because(answer.response);
  return answer.response;
}
