import { expect, test } from 'vitest';
import { contractScript } from '../../src/index.ts';
import { RawClient, runAgent } from './raw-client.ts';

const message = (sessionUpdate: string, text: string) => ({
  sessionUpdate,
  content: { type: 'text', text },
});

test('initialize reports the methods that the script offers, and the fields that the script replaces', async () => {
  const { client } = await runAgent({
    initialize: { protocolVersion: 7, _meta: { odd: 'x' } },
    offers: { load: false, resume: true, delete: true },
    needsAuth: true,
  });

  const { result } = await client.request('initialize', { protocolVersion: 1 });

  expect(result).toMatchObject({
    protocolVersion: 7,
    _meta: { odd: 'x' },
    agentCapabilities: {
      loadSession: false,
      sessionCapabilities: { list: {}, close: {}, resume: {}, delete: {} },
    },
    authMethods: [{ id: 'login' }],
  });
});

test('a session is replayed before the answer to its load, also by a later process', async () => {
  const { agent, client } = await runAgent(contractScript);
  const sessionId = await client.session();
  await client.prompt(sessionId, 'Say something.');
  await client.prompt(sessionId, 'Use a tool.');
  await agent.control.crash();
  const later = new RawClient(agent);

  const { result } = await later.request('session/load', { sessionId, cwd: '/', mcpServers: [] });

  expect(later.messages.at(-1)).toMatchObject({ result });
  expect(result).toMatchObject({ modes: { currentModeId: 'ask' } });
  expect(later.updates(sessionId)).toEqual([
    message('user_message_chunk', 'Say something.'),
    message('agent_message_chunk', 'Something.'),
    message('user_message_chunk', 'Use a tool.'),
    expect.objectContaining({
      sessionUpdate: 'tool_call',
      title: 'echo used',
      status: 'completed',
    }),
    message('agent_message_chunk', 'The tool said “used”.'),
  ]);
  await agent.control.process(1);
  expect(agent.control.processes.map(({ alive }) => alive)).toEqual([false, true]);
});

test('the control distinguishes the agent’s processes, and can control each separately', async () => {
  const { agent, client } = await runAgent({ turns: [{ steps: [{ gate: 'go' }] }] });
  const { control } = agent;
  const first = await control.process(0);
  const other = new RawClient(agent);
  const second = await control.process(1);
  const answers = [
    client.prompt(await client.session('/first'), 'a'),
    other.prompt(await other.session('/second'), 'b'),
  ];

  first.write({ to: 'first' });
  control.write({ to: 'second' });
  await client.until(({ to }) => to === 'first');
  await other.until(({ to }) => to === 'second');
  control.open('go');

  await Promise.all(answers);
  const cwds = control.received
    .filter(({ method }) => method === 'session/new')
    .map(({ pid, params }) => [pid, params['cwd']]);
  expect(cwds).toEqual([
    [first.pid, '/first'],
    [second.pid, '/second'],
  ]);
  expect([first.pid, second.pid]).toEqual([client.process.pid, other.process.pid]);
});

test('if the process dies during a turn, only the prompt of the turn is stored', async () => {
  const { agent, client } = await runAgent(contractScript);
  const sessionId = await client.session();
  void client.prompt(sessionId, 'Go on for ever.');
  await client.until(() => client.agentText(sessionId) !== '');
  await agent.control.crash();
  const later = new RawClient(agent);

  await later.request('session/load', { sessionId, cwd: '/', mcpServers: [] });

  expect(later.updates(sessionId)).toEqual([message('user_message_chunk', 'Go on for ever.')]);
});

test('earlier sessions are listed page by page, for one folder or for all folders', async () => {
  const { client } = await runAgent({
    listPageSize: 2,
    sessions: ['1', '2', '3'].map((sessionId) => ({
      sessionId,
      cwd: sessionId === '2' ? '/b' : '/a',
      title: `Session ${sessionId}`,
      updatedAt: `2025-01-0${sessionId}T00:00:00Z`,
    })),
  });

  expect((await client.request('session/list')).result).toMatchObject({
    sessions: [{ sessionId: '3', title: 'Session 3' }, { sessionId: '2' }],
    nextCursor: '2',
  });
  expect((await client.request('session/list', { cursor: '2' })).result).toEqual({
    sessions: [
      { sessionId: '1', cwd: '/a', title: 'Session 1', updatedAt: '2025-01-01T00:00:00Z' },
    ],
  });
  expect((await client.request('session/list', { cwd: '/b' })).result).toMatchObject({
    sessions: [{ sessionId: '2' }],
  });
});

test('if the script says so, a session without a prompt is not stored', async () => {
  const { client } = await runAgent({ storesAtFirstPrompt: true });
  const load = async (sessionId: string) =>
    client.request('session/load', { sessionId, cwd: '/', mcpServers: [] });
  const sessionId = await client.session();

  expect(await load(sessionId)).toMatchObject({ error: { code: -32002 } });

  await client.prompt(sessionId, 'Hello');
  expect(await load(sessionId)).toHaveProperty('result');
});

test('if the script offers it, a session is resumed without a replay, closed with its turn, and deleted', async () => {
  const { agent, client } = await runAgent({
    offers: { resume: true, delete: true },
    turns: [{ when: 'wait', steps: [{ gate: 'wait' }] }],
  });
  const sessionId = await client.session();
  await client.prompt(sessionId, 'Hello');
  const running = client.prompt(sessionId, 'wait');
  await agent.control.reached('wait');

  expect(await client.request('session/close', { sessionId })).toHaveProperty('result');
  expect(await running).toMatchObject({ result: { stopReason: 'cancelled' } });
  expect(await client.prompt(sessionId, 'x')).toMatchObject({ error: { code: -32002 } });
  const before = client.updates(sessionId).length;
  expect(await client.request('session/resume', { sessionId, cwd: '/' })).toHaveProperty('result');
  expect(client.updates(sessionId)).toHaveLength(before);
  await client.request('session/delete', { sessionId });

  expect((await client.request('session/list')).result).toEqual({ sessions: [] });
  expect(await client.request('session/resume', { sessionId, cwd: '/' })).toMatchObject({
    error: { code: -32002 },
  });
});

test('if a method is not offered, a call of it is answered with “method not found”', async () => {
  const offers = { load: false, list: false, resume: false, close: false, delete: false };
  const { client } = await runAgent({ offers });
  const sessionId = await client.session();

  const answers = await Promise.all(
    Object.keys(offers).map((name) => client.request(`session/${name}`, { sessionId })),
  );

  expect(answers).toMatchObject(answers.map(() => ({ error: { code: -32601 } })));
});

test('sessions are rejected until the client authenticates; a later process remembers this until the logout', async () => {
  const { agent, client } = await runAgent({ needsAuth: true });
  const create = async (with_: RawClient) =>
    with_.request('session/new', { cwd: '/', mcpServers: [] });
  expect(await create(client)).toMatchObject({ error: { code: -32000 } });
  expect(await client.request('authenticate', { methodId: 'no' })).toMatchObject({
    error: { code: -32602 },
  });

  await client.request('authenticate', { methodId: 'login' });

  expect(await create(client)).toHaveProperty('result');
  const later = new RawClient(agent);
  expect(await create(later)).toHaveProperty('result');
  await later.request('logout');
  expect(await create(later)).toMatchObject({ error: { code: -32000 } });
});

test('modes and config options can be set, and unknown ones are rejected', async () => {
  const { client } = await runAgent(contractScript);
  const sessionId = await client.session();

  const mode = await client.request('session/set_mode', { sessionId, modeId: 'code' });
  const set = (configId: string) =>
    client.request('session/set_config_option', { sessionId, configId, value: 'large' });

  expect(mode).toHaveProperty('result', {});
  expect((await set('model')).result).toMatchObject({
    configOptions: [{ id: 'model', currentValue: 'large' }],
  });
  expect(await set('no')).toMatchObject({ error: { code: -32602 } });
  expect(await client.request('session/set_mode', { sessionId, modeId: 'no' })).toMatchObject({
    error: { code: -32602 },
  });
});

test('a script can give any method another answer, or play steps before and after the usual answer', async () => {
  const { client } = await runAgent({
    on: {
      'session/new': [{ stderr: 'new' }, { answer: true }, { say: 'Welcome.' }],
      'session/set_mode': [{ error: { code: 'odd', message: 7 } }],
      'vendor/thing': [{ result: [1] }],
    },
  });

  const sessionId = await client.session();

  await client.until(() => client.agentText(sessionId) === 'Welcome.');
  expect(await client.request('session/set_mode', { sessionId })).toMatchObject({
    error: { code: 'odd', message: 7 },
  });
  expect(await client.request('vendor/thing')).toMatchObject({ result: [1] });
  expect(await client.request('vendor/other')).toMatchObject({ error: { code: -32601 } });
});
