import { expect, test } from 'vitest';
import { readAgain } from './history.ts';

const chunk = (who: string, text: string) => ({
  sessionUpdate: `${who}_chunk`,
  content: { type: 'text', text },
});
const image = {
  sessionUpdate: 'agent_message_chunk',
  content: { type: 'image', data: '', mimeType: 'image/png' },
};

test('the chunks of one message are joined if no other update is between them', () => {
  const tool = { sessionUpdate: 'tool_call', toolCallId: '1', title: 'a' };

  expect(
    readAgain([
      chunk('user_message', 'q'),
      chunk('agent_thought', 'h'),
      chunk('agent_thought', 'm'),
      chunk('agent_message', 'a'),
      chunk('agent_message', 'b'),
      tool,
      chunk('agent_message', 'c'),
      image,
      chunk('agent_message', 'd'),
    ]),
  ).toEqual([
    chunk('user_message', 'q'),
    chunk('agent_thought', 'hm'),
    chunk('agent_message', 'ab'),
    tool,
    chunk('agent_message', 'c'),
    image,
    chunk('agent_message', 'd'),
  ]);
});

test('a tool call is replayed once, in its final state; plans and settings are not replayed', () => {
  expect(
    readAgain([
      { sessionUpdate: 'tool_call', toolCallId: '1', title: 'a', status: 'pending' },
      { sessionUpdate: 'plan', entries: [] },
      { sessionUpdate: 'current_mode_update', currentModeId: 'x' },
      { sessionUpdate: 'tool_call_update', toolCallId: '1', status: 'completed' },
      { sessionUpdate: 'tool_call_update', toolCallId: 'unknown', status: 'completed' },
    ]),
  ).toEqual([{ sessionUpdate: 'tool_call', toolCallId: '1', title: 'a', status: 'completed' }]);
});
