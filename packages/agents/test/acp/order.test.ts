/**
 * An agent's messages are handled in the order in which they arrive, whether the library or Liminal itself reads them.
 */
import { expect, test } from 'vitest';
import { runAgent, messagesOf } from './running-agent.ts';

const commands = (name: string) => ({
  sessionUpdate: 'available_commands_update',
  availableCommands: [{ name, description: '' }],
});

test('TC-4.1c: sending passes on the prompt, and resolves when the turn has begun, not when it ends', async () => {
  const { create, control } = await runAgent({ turns: [{ steps: [{ gate: 'held' }] }] });
  const listener = await create();
  const turnId = await listener.send('Hello.');
  expect(listener.of(turnId).map(({ payload }) => payload.type)).toEqual([
    'response_start',
    'item_start',
    'item_done',
  ]);
  const prompt = await control.until('session/prompt');
  expect(prompt.params).toMatchObject({ prompt: [{ type: 'text', text: 'Hello.' }] });
  control.open('held');
  expect((await listener.response(turnId)).status).toBe('complete');
});

test('an answer is handled after all messages before it, and before all messages after it', async () => {
  const chunk = (text: string) =>
    JSON.stringify({
      jsonrpc: '2.0',
      method: 'session/update',
      params: {
        sessionId: '{{sessionId}}',
        update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
      },
    });
  const turns = Array.from({ length: 20 }, (_, at) => at);
  const { create, control } = await runAgent({ turns: [{ steps: [{ hang: true }] }] });
  const listener = await create();
  const sessionId = await listener.agentSessionId();
  for (const at of turns) {
    const turnId = await listener.send(`Turn ${at}.`);
    const { id } = await control.until(
      ({ method, line }) => method === 'session/prompt' && line.includes(`Turn ${at}.`),
    );
    // One write, so that all lines arrive at once.
    const answer = JSON.stringify({ jsonrpc: '2.0', id, result: { stopReason: 'end_turn' } });
    const before = Array.from({ length: 50 }, (_one, part) => chunk(`${part} `));
    const lines = [...before, answer, chunk('late')];
    control.write(lines.join('\n').replaceAll('{{sessionId}}', sessionId));

    const response = await listener.response(turnId);
    const text = Array.from({ length: 50 }, (_one, part) => `${part} `).join('');
    expect(messagesOf(response)).toEqual([`user: Turn ${at}.`, `agent: ${text}`]);
    // Late text is a turn of the agent's own, and not part of the next turn.
    const turnIds = new Set<string>();
    await listener.until(() => {
      for (const one of listener.events) turnIds.add(one.turnId);
      return turnIds.size === 2 * (at + 1);
    });
  }
});

test('a permission request comes after its call', async () => {
  const { create } = await runAgent({
    turns: [
      {
        steps: [
          {
            update: {
              sessionUpdate: 'tool_call',
              toolCallId: 'call',
              title: 'Delete everything',
              kind: 'delete',
            },
          },
          {
            request: {
              method: 'session/request_permission',
              params: {
                toolCall: { toolCallId: 'call' },
                options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
              },
            },
          },
          { say: 'Done.' },
        ],
      },
    ],
  });
  const listener = await create();
  const turnId = await listener.send('Delete.');
  const request = await listener.asked(turnId);
  const started = listener
    .of(turnId)
    .flatMap(({ payload }) => (payload.type === 'item_start' ? payload.itemType : []));
  expect(started).toEqual(['message', 'function_call', 'approval']);
  expect(request.callId).toBe('call');
  await request.answer('yes');
  expect((await listener.response(turnId)).status).toBe('complete');
});

test('updates after the answer reach the session: commands, title', async () => {
  const { create } = await runAgent({
    turns: [
      {
        steps: [
          { say: 'Hi.' },
          { stop: { stopReason: 'end_turn' } },
          { update: { sessionUpdate: 'session_info_update', title: 'A greeting' } },
          { update: commands('late') },
        ],
      },
    ],
  });
  const listener = await create();
  await listener.ask('Hello.');
  await listener.until(() => listener.updates.find((update) => update.title === 'A greeting'));
  await listener.until(() => listener.updates.find((update) => update.commands));
  expect(new Set(listener.events.map(({ turnId }) => turnId)).size).toBe(1);
});

test('an agent that sends text without a prompt begins a turn of its own, which ends after some silence', async () => {
  const { create, control } = await runAgent({}, { provider: { ownTurnIdleMs: 100 } });
  const listener = await create();
  const sessionId = await listener.agentSessionId();
  const content = { type: 'text', text: 'By the way…' };
  const update = { sessionUpdate: 'agent_message_chunk', content };
  control.write({ jsonrpc: '2.0', method: 'session/update', params: { sessionId, update } });

  const start = await listener.until(() => listener.events[0]);
  expect(start.payload).toMatchObject({ type: 'response_start', trigger: 'agent' });
  expect(messagesOf(await listener.response(start.turnId))).toEqual(['agent: By the way…']);
  expect(messagesOf(await listener.ask('And?'))).toEqual(['user: And?', 'agent: You said: And?']);
});

test('a message ends a turn that the agent began', async () => {
  const { create, control } = await runAgent({}, { provider: { ownTurnIdleMs: 60_000 } });
  const listener = await create();
  const sessionId = await listener.agentSessionId();
  const content = { type: 'text', text: 'By the way…' };
  const update = { sessionUpdate: 'agent_message_chunk', content };
  control.write({ jsonrpc: '2.0', method: 'session/update', params: { sessionId, update } });
  const start = await listener.until(() => listener.events[0]);

  const turnId = await listener.send('Yes?');

  expect((await listener.response(start.turnId)).status).toBe('complete');
  expect((await listener.response(turnId)).status).toBe('complete');
});

test('updates for unknown sessions, or without a session, are ignored', async () => {
  const { create } = await runAgent({
    turns: [
      {
        steps: [
          { update: { sessionUpdate: 'agent_message_chunk' }, sessionId: 'somebody-else' },
          { update: { sessionUpdate: 'agent_message_chunk' }, sessionId: null },
          { message: { jsonrpc: '2.0', method: 'session/update' } },
          { message: { jsonrpc: '2.0', method: 'session/update', params: [] } },
          { say: 'Mine.' },
        ],
      },
    ],
  });
  const listener = await create();
  expect(messagesOf(await listener.ask('Whose?'))).toEqual(['user: Whose?', 'agent: Mine.']);
});

test('unknown variants and fields of updates are kept', async () => {
  const { create } = await runAgent({
    turns: [
      {
        steps: [
          { update: { sessionUpdate: 'of_tomorrow', secret: 'kept-one' } },
          { say: 'Hi.' },
          { message: { jsonrpc: '2.0', method: '_vendor/tell', params: { any: 'thing' } } },
        ],
      },
    ],
  });
  const listener = await create();
  expect(JSON.stringify(await listener.ask('Hello.'))).toContain('kept-one');
});
