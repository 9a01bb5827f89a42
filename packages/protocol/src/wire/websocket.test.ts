import { expect, test } from 'vitest';
import { ClientMessage, ServerMessage } from './websocket.ts';

test('TC-6.4b: only one family of messages exists: messages of the old family, and requests for them, are refused', () => {
  const sessionId = 's';
  const before = ['session:update', 'session:chunk', 'session:complete', 'session:cancelled'];
  for (const type of before) {
    const message = { type, sessionId, turnId: 't', content: 'Hi', entry: {}, payload: {} };
    expect(ServerMessage.safeParse(message).success).toBe(false);
  }
  const hello = { type: 'session:hello', sessionId, families: ['upsert-v1'] };
  expect(ClientMessage.safeParse(hello).success).toBe(false);
  expect(ServerMessage.safeParse(hello).success).toBe(false);
  const types = ServerMessage.options.map(({ shape }) => shape.type.value);
  expect(types.filter((type) => before.includes(type))).toEqual([]);
});
