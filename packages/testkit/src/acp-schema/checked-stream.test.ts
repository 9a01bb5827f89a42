import { agent, client, type AnyMessage, type Stream } from '@agentclientprotocol/sdk';
import { expect, test } from 'vitest';
import { checkedStream, updateProblems } from './index.ts';

const text = { type: 'text', text: 'Hello' };

test.each([
  ['a chunk', { sessionUpdate: 'agent_message_chunk', messageId: '1', content: text }],
  ['a chunk with fields of our own', { sessionUpdate: 'plan', entries: [], _meta: { mine: [1] } }],
  [
    'a call whose input is free',
    { sessionUpdate: 'tool_call', toolCallId: '1', title: 'Run', rawInput: { any: { thing: 1 } } },
  ],
])('the check accepts %s', (_, update) => {
  expect(updateProblems(update)).toEqual([]);
});

test.each([
  ['an unknown kind', { sessionUpdate: 'agent_chunk', content: text }],
  ['a lacking field', { sessionUpdate: 'tool_call', toolCallId: '1' }],
  ['a wrong value', { sessionUpdate: 'tool_call_update', toolCallId: '1', status: 'done' }],
  ['a field that is not in the schema', { sessionUpdate: 'plan', entries: [], title: 'Mine' }],
  [
    'such a field deep inside',
    {
      sessionUpdate: 'tool_call_update',
      toolCallId: '1',
      content: [{ type: 'content', content: { ...text, mine: 1 } }],
    },
  ],
  ['a draft update', { sessionUpdate: 'plan_removed', planId: 'plan-1' }],
])('the check refuses %s', (_, update) => {
  expect(updateProblems(update)).not.toEqual([]);
});

test('messages of the protocol’s drafts are accepted if the caller allows drafts', () => {
  expect(updateProblems({ sessionUpdate: 'plan_removed', planId: 'plan-1' }, 'unstable')).toEqual(
    [],
  );
});

function connectedPair(): [Stream, Stream] {
  const [up, down] = [
    new TransformStream<AnyMessage, AnyMessage>(),
    new TransformStream<AnyMessage, AnyMessage>(),
  ];
  return [
    { readable: down.readable, writable: up.writable },
    { readable: up.readable, writable: down.writable },
  ];
}

test('a connection with valid messages has no problem', async () => {
  const problems: Error[] = [];
  const [here, there] = connectedPair();
  agent()
    .onRequest('initialize', () => ({ protocolVersion: 1, agentCapabilities: {} }))
    .connect(there);
  const checked = checkedStream(here, { onProblem: (problem) => problems.push(problem) });
  const connection = client().connect(checked);
  await connection.agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  expect(problems).toEqual([]);
});

test.each<[string, AnyMessage, string]>([
  [
    'a notification',
    { jsonrpc: '2.0', method: 'session/update', params: { sessionId: '1', update: {} } },
    'SessionNotification',
  ],
  ['a request', { jsonrpc: '2.0', id: 1, method: 'session/prompt', params: {} }, 'PromptRequest'],
  ['an unknown method', { jsonrpc: '2.0', method: 'session/none' }, 'no notification session/none'],
  ['an answer to nothing', { jsonrpc: '2.0', id: 5, result: {} }, 'id 5'],
  ['an error without a code', { jsonrpc: '2.0', id: 5, error: {} as never }, 'Error'],
])('the stream reports %s in either direction', async (_, message, named) => {
  const problems: string[] = [];
  const onProblem = ({ message: words }: Error) => problems.push(words);
  const [here, there] = connectedPair();
  const checked = checkedStream(here, { onProblem });
  await Promise.all([
    checked.writable.getWriter().write(message),
    there.readable.getReader().read(),
    there.writable.getWriter().write(message),
    checked.readable.getReader().read(),
  ]);
  expect(problems).toEqual([expect.stringContaining(named), expect.stringContaining(named)]);
});

test('an answer is reported if it has another form than its request needs', async () => {
  const problems: string[] = [];
  const [here, there] = connectedPair();
  const checked = checkedStream(here, { onProblem: ({ message }) => problems.push(message) });
  const asked = { jsonrpc: '2.0', id: 1, method: 'session/new' } as const;
  await Promise.all([
    checked.writable.getWriter().write({ ...asked, params: { cwd: '/', mcpServers: [] } }),
    there.readable.getReader().read(),
  ]);
  await Promise.all([
    there.writable.getWriter().write({ jsonrpc: '2.0', id: 1, result: { session: '1' } }),
    checked.readable.getReader().read(),
  ]);
  expect(problems).toEqual([expect.stringContaining('NewSessionResponse')]);
});
