import { thrownMessage } from '@liminal/protocol';
import { z } from 'zod';
import { errors } from '../../contract/errors.ts';
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
    throw errors.NOT_ANSWERED.noConversation();
  }
  const asked = { threadId, expectedTurnId, allowInProgressTurn: true, prompt: question };
  const answer = await server.request('thread/sample', asked).catch((error: unknown) => {
    throw errors.NOT_ANSWERED.because(thrownMessage(error), { cause: error });
  });
  const text = Sample.safeParse(answer).data?.text;
  if (text == null) throw errors.NOT_ANSWERED.wantedTool();
  return text;
}
