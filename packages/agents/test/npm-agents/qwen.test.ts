/** Tests the real Qwen Code, which is configured only by its command. */
import { randomUUID } from 'node:crypto';
import { chat, type ChatRequest, qwenEnvironment, startChatCompletionsApi } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { foldTurn, itemsOf } from '../../src/testing/folding.ts';
import { messagesOf } from '../acp/running-agent.ts';
import { runNpmAgent } from './stage.ts';

/**
 * Gives these replies to the requests of the conversation; Qwen Code also sends other requests, for example for titles.
 */
const runQwen = (replies: chat.ChatReply[]) =>
  runNpmAgent({
    agent: 'qwen',
    startModel: () => startChatCompletionsApi({ script: (request) => next(replies, request) }),
    environment: qwenEnvironment,
  });

const isMain = ({ body }: ChatRequest): boolean =>
  JSON.stringify(body.messages[0]).includes('You are Qwen Code');

const next = (replies: chat.ChatReply[], request: ChatRequest): chat.ChatReply =>
  (isMain(request) ? replies.shift() : undefined) ?? chat.answer('Nothing.');

test('a message that is sent while a tool waits reaches the model, and is stored by Qwen Code, in the same turn', async () => {
  const { create, provide, provider, projectDir, model } = await runQwen([
    chat.answer(chat.call('run_shell_command', { command: 'touch one.txt', is_background: false })),
    chat.answer('With that.'),
  ]);
  const listener = await create();
  const turnId = await listener.send('Make it.');
  const asked = await listener.asked(turnId);

  const messageId = randomUUID();
  await provider.steer(listener.sessionId, 'And in red.', { turnId, messageId });
  await asked.answer('proceed_once');

  const response = await listener.response(turnId);
  expect(messagesOf(response)).toEqual([
    'user: Make it.',
    'user: And in red.',
    'agent: With that.',
  ]);
  expect(itemsOf(response, 'message')[1]).toMatchObject({ delivery: 'taken' });
  const told = JSON.stringify(model.requests.filter(isMain).at(-1)?.body.messages);
  expect(told.split('And in red.')).toHaveLength(2);
  const agentSessionId = await listener.agentSessionId();
  await provider.close();

  const later = provide();
  const stored = await later.readStoredHistory(agentSessionId, projectDir);
  expect(stored.map(({ turnId: id, events }) => messagesOf(foldTurn(events, id)))).toEqual([
    messagesOf(response),
  ]);
});
