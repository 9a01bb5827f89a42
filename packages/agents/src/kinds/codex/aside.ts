import { thrownMessage } from '@liminal/protocol';
import { z } from 'zod';
import { notAnswered } from '../../contract/errors.ts';
import type { AppServer } from './app-server.ts';

const NewestTurn = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) });
const Sample = z.looseObject({ text: z.string().nullish() });

/** Returns the model's answer to a side question. Throws ProviderError `NOT_ANSWERED`. */
export async function askAside(
  server: AppServer,
  threadId: string,
  question: string,
): Promise<string> {
  const params = { threadId, limit: 1, sortDirection: 'desc', itemsView: 'notLoaded' };
  const turns =
    NewestTurn.safeParse(await server.tryRequest('thread/turns/list', params)).data?.data ?? [];
  const expectedTurnId = turns[0]?.id;
  if (expectedTurnId === undefined) {
    throw notAnswered('Send a message first: there is no conversation yet.');
  }
  const asked = { threadId, expectedTurnId, allowInProgressTurn: true, prompt: question };
  const answer = await server.request('thread/sample', asked).catch((error: unknown) => {
    throw notAnswered(thrownMessage(error), error);
  });
  const text = Sample.safeParse(answer).data?.text;
  if (text == null)
    throw notAnswered('The model wanted to use a tool, which a side question does not allow.');
  return text;
}
