/** Messages to a running turn, which Qwen Code requests from its client between tool calls. */
import { randomUUID } from 'node:crypto';
import type { ContentBlock } from '@liminal/protocol';
import { pixel, type AgentScript, type Step } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { itemsOf } from '../../src/testing/folding.ts';
import { coded } from '../../src/testing/subject.ts';
import { runAgent, messagesOf, type Listener, type RunningAgent } from './running-agent.ts';

const qwen = { agentInfo: { name: 'qwen-code', title: 'Qwen Code', version: '0.24.4' } };
const image: ContentBlock = { type: 'image', mimeType: 'image/png', data: pixel };

/** The agent requests messages, and then lists the messages that it got. */
const asking: Step[] = [
  { request: { method: 'craft/drainMidTurnQueue', params: {}, as: 'queue' } },
  { say: 'Read: {{queue.messages.0}}.' },
];

const run = (script: AgentScript) => runAgent({ initialize: qwen, ...script });

async function steer(
  { provider }: RunningAgent,
  { sessionId }: Listener,
  turnId: string,
  text: string,
  blocks: ContentBlock[] = [],
): Promise<string> {
  const messageId = randomUUID();
  await provider.steer(sessionId, text, { turnId, messageId, blocks });
  return messageId;
}

const deliveries = (response: Parameters<typeof itemsOf>[0]): unknown[] =>
  itemsOf(response, 'message').flatMap(({ content, delivery }) =>
    delivery === undefined ? [] : [[content, delivery]],
  );

test('a message is given once to an agent that requests messages, and is then reported as delivered', async () => {
  const agent = await run({
    initialize: { ...qwen, agentCapabilities: { promptCapabilities: { image: true } } },
    turns: [{ steps: [{ say: 'I begin.' }, { gate: 'tool' }, ...asking, ...asking] }],
  });
  const listener = await agent.create();
  const turnId = await listener.send('Begin.');
  await agent.control.reached('tool');
  await listener.event(turnId, 'item_delta');

  await steer(agent, listener, turnId, 'In red', [image]);
  agent.control.open('tool');

  const response = await listener.response(turnId);
  expect(messagesOf(response)).toEqual([
    'user: Begin.',
    'agent: I begin.',
    'user: In red',
    'agent: Read: In red.Read: undefined.',
  ]);
  expect(deliveries(response)).toEqual([['In red', 'taken']]);
  const answers = agent.control.received.flatMap(({ result }) => {
    const { items } = (result ?? {}) as { items?: unknown };
    return items === undefined ? [] : [items];
  });
  const content = [
    { type: 'text', text: 'In red' },
    { type: 'image', mimeType: 'image/png', data: pixel },
  ];
  expect(answers).toEqual([[{ content, displayText: 'In red' }], []]);
});

test('messages that the agent does not request begin turns of their own, in their order', async () => {
  const agent = await run({ turns: [{ when: 'Begin', steps: [{ gate: 'end' }] }, { steps: [] }] });
  const listener = await agent.create();
  const turnId = await listener.send('Begin.');
  await agent.control.reached('end');

  const first = await steer(agent, listener, turnId, 'One');
  const second = await steer(agent, listener, turnId, 'Two');
  agent.control.open('end');

  expect(deliveries(await listener.response(turnId))).toEqual([]);
  expect(messagesOf(await listener.response(first))).toContain('user: One');
  expect(messagesOf(await listener.response(second))).toContain('user: Two');
  expect([...new Set(listener.events.map((event) => event.turnId))]).toEqual([
    turnId,
    first,
    second,
  ]);
});

test('a message to a turn that is stopped is not given to the agent', async () => {
  const agent = await run({
    turns: [{ when: 'Begin', steps: [{ gate: 'end' }], onCancel: asking }, { steps: asking }],
  });
  const listener = await agent.create();
  const turnId = await listener.send('Begin.');
  await agent.control.reached('end');
  await steer(agent, listener, turnId, 'One');

  await agent.provider.cancelTurn(listener.sessionId);

  const response = await listener.response(turnId);
  expect(messagesOf(response)).toEqual(['user: Begin.', 'user: One', 'agent: Read: undefined.']);
  expect(deliveries(response)).toEqual([['One', 'not_taken']]);
  expect(messagesOf(await listener.ask('Next.')).at(-1)).toBe('agent: Read: undefined.');
  expect(new Set(listener.events.map((event) => event.turnId)).size).toBe(2);
});

test('a message is refused without a running turn, or if the agent never requests messages', async () => {
  const agent = await run({});
  const listener = await agent.create();
  await expect(steer(agent, listener, randomUUID(), 'One')).rejects.toMatchObject(
    coded('NOTHING_TO_STEER'),
  );

  const other = await runAgent({});
  const session = await other.create();
  await expect(steer(other, session, randomUUID(), 'One')).rejects.toMatchObject(
    coded('NOT_SUPPORTED'),
  );
});
