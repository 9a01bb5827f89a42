/** The sessions that an agent opens for its subagents. */
import { expect, test } from 'vitest';
import type { Step } from '@liminal/testkit';
import { itemsOf } from '../../src/testing/folding.ts';
import { runAgent, messagesOf } from './running-agent.ts';

const child = 'child-session';
const says = (text: string, sessionUpdate = 'agent_message_chunk'): Step => ({
  sessionId: child,
  update: { sessionUpdate, content: { type: 'text', text } },
});
const call = (status: string, more: object = {}): Record<string, unknown> => ({
  sessionUpdate: status === 'pending' ? 'tool_call' : 'tool_call_update',
  toolCallId: 'look',
  status,
  ...more,
});
const task = {
  sessionUpdate: 'tool_call',
  toolCallId: 'task',
  title: 'Ask the reader',
  status: 'in_progress',
  content: [{ type: 'session', sessionId: child }],
};
const announced: Step = {
  update: { sessionUpdate: 'subagent_update', sessionId: child, title: 'Reader' },
};
const options = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];

test('a subagent’s session is shown below the call that links to it, and its requests name the subagent', async () => {
  const { create, control } = await runAgent({
    turns: [
      {
        steps: [
          { say: 'I ask ' },
          announced,
          { update: task },
          says('Let me see.', 'agent_thought_chunk'),
          says('I look '),
          { say: 'the reader.' },
          says('around.'),
          { sessionId: child, update: call('pending', { title: 'Look' }) },
          {
            request: {
              method: 'session/request_permission',
              params: { sessionId: child, toolCall: { toolCallId: 'look' }, options },
            },
          },
          { sessionId: child, update: call('completed') },
          says('It is there.'),
          {
            update: { sessionUpdate: 'tool_call_update', toolCallId: 'task', status: 'completed' },
          },
          { say: 'Found.' },
        ],
      },
    ],
  });
  const listener = await create();
  const begun = await control.until('initialize');
  expect(begun.params['clientCapabilities']).toMatchObject({ subagents: {} });
  const turnId = await listener.send('Find it.');
  const request = await listener.asked(turnId);
  expect(request).toMatchObject({ callId: 'look', askedBy: 'Subagent “Reader”' });
  await request.answer('yes');

  const response = await listener.response(turnId);
  const calls = itemsOf(response, 'function_call');
  expect(calls.map(({ callId, parentCallId }) => [callId, parentCallId])).toEqual([
    ['task', undefined],
    ['look', 'task'],
  ]);
  const messages = itemsOf(response, 'message').filter(({ origin }) => origin === 'agent');
  expect(messages.map(({ content, parentCallId }) => [content, parentCallId])).toEqual([
    ['I ask ', undefined],
    ['I look around.', 'task'],
    ['the reader.', undefined],
    ['It is there.', 'task'],
    ['Found.', undefined],
  ]);
  expect(itemsOf(response, 'reasoning')).toMatchObject([
    { content: 'Let me see.', parentCallId: 'task' },
  ]);
  expect(response).toMatchObject({ status: 'complete' });
});

test('if no call is known for a subagent’s session, the session is shown in notices, whether it was announced or not', async () => {
  const { create } = await runAgent({
    turns: [
      {
        steps: [
          says('I look '),
          says('around.'),
          { sessionId: child, update: call('pending', { title: 'Look' }) },
          { sessionId: child, update: call('failed') },
          { sessionId: child, update: { sessionUpdate: 'plan', entries: [] } },
          { say: 'Found.' },
        ],
      },
    ],
  });
  const listener = await create();
  const response = await listener.ask('Find it.');
  expect(messagesOf(response)).toEqual([
    'user: Find it.',
    'system: The subagent “child-session” says:\n\nI look around.',
    'system: The subagent “child-session” uses a tool: Look.',
    'agent: Found.',
  ]);
  expect(JSON.stringify(response)).toContain('"status":"failed"');
  expect(response).toMatchObject({ status: 'complete' });
});

test('late updates of an ended session are not shown in another session of the same process', async () => {
  const { create, provider, control } = await runAgent(
    {
      turns: [
        { when: 'first', steps: [{ say: 'One.' }] },
        { when: 'second', steps: [{ gate: 'late' }, { say: 'Two.' }] },
      ],
      on: {
        'session/close': [
          {
            update: {
              sessionUpdate: 'agent_message_chunk',
              content: { type: 'text', text: 'Late.' },
            },
          },
          { result: {} },
        ],
      },
    },
    { provider: { sharedProcess: true } },
  );
  const first = await create();
  await first.ask('The first.');
  const second = await create();
  const turnId = await second.send('The second.');
  await provider.killSession(first.sessionId);
  control.open('late');
  expect(messagesOf(await second.response(turnId))).toEqual(['user: The second.', 'agent: Two.']);
});
