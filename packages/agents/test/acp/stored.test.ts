/** Sessions in the agent's own store: listed, read and continued. */
import { randomUUID } from 'node:crypto';
import { testAtLength } from '@liminal/testkit/at-length';
import { emptyResponse, foldResponse, stampEvent, toResponse } from '@liminal/protocol';
import type { AgentScript, Step } from '@liminal/testkit';
import { expect, test } from 'vitest';
import type { StoredTurn } from '../../src/contract/provider.ts';
import { coded } from '../../src/testing/subject.ts';
import { Listener, runAgent, messagesOf } from './running-agent.ts';

const text = (sessionUpdate: string, value: string) => ({
  sessionUpdate,
  content: { type: 'text', text: value },
});
const conversation = [
  text('user_message_chunk', 'What is it?'),
  text('agent_message_chunk', 'It is 42.'),
  text('user_message_chunk', 'Sure?'),
  text('agent_message_chunk', 'Sure.'),
];
const stored = (sessionId: string, cwd: string, updatedAt?: string) => ({
  sessionId,
  cwd,
  title: `About ${sessionId}`,
  updates: conversation,
  ...(updatedAt !== undefined && { updatedAt }),
});

/** The messages of a stored turn. */
function messagesIn({ turnId, events }: StoredTurn): string[] {
  const run = {
    sessionId: 's',
    runId: turnId,
    traceContext: { traceparent: `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01` },
  };
  const folded = events.reduce(
    (state, draft, seq) => foldResponse(state, stampEvent(draft, run, seq)),
    emptyResponse(),
  );
  return messagesOf(toResponse(folded)!);
}

test('sessions are listed page by page, newest first, for one folder or all folders, by a process that ends afterwards', async () => {
  const sessions = [
    stored('a', '/one', '2026-01-01T00:00:00Z'),
    stored('b', '/two', '2026-03-01T00:00:00+01:00'),
    stored('c', '/one', '2026-02-01T00:00:00Z'),
    stored('d', '/one'),
  ];
  const { provider, control } = await runAgent({ sessions, listPageSize: 2 });

  const [found, again] = await Promise.all([
    provider.listStoredSessions(),
    provider.listStoredSessions('/one'),
  ]);

  expect(found.map(({ sessionId }) => sessionId)).toEqual(['b', 'c', 'a', 'd']);
  expect(found[0]).toEqual({
    sessionId: 'b',
    projectDir: '/two',
    title: 'About b',
    createdAt: '2026-02-28T23:00:00.000Z',
    updatedAt: '2026-02-28T23:00:00.000Z',
  });
  expect(again.map(({ sessionId }) => sessionId)).toEqual(['c', 'a', 'd']);
  expect(control.processes).toHaveLength(1);
  await provider.close();
  await (
    await control.process()
  ).gone;
});

test.each(['refuse', 'empty'] as const)(
  'if an agent lists only by folder (%s), the sessions of the known folders are listed',
  async (listWithoutFolder) => {
    const sessions = ['/one', '/two', '/three'].map((cwd, at) =>
      stored(`s${at}`, cwd, `2026-01-0${at + 1}T00:00:00Z`),
    );
    const { provider, calls } = await runAgent({ sessions, listWithoutFolder });

    const found = await provider.listStoredSessions(undefined, ['/one', '/two']);

    expect(found.map(({ sessionId }) => sessionId)).toEqual(['s1', 's0']);
    expect(await calls()).toEqual(['initialize', ...Array(3).fill('session/list')]);
  },
);

test('a running agent lists its sessions, and no other process is started', async () => {
  const { provider, create, control, calls } = await runAgent({ sessions: [stored('a', '/one')] });
  expect(await provider.peekStoredSessions()).toBeUndefined();
  expect(control.processes).toHaveLength(0);

  await create();

  const ids = (await provider.peekStoredSessions())?.map(({ sessionId }) => sessionId);
  expect(ids).toContain('a');
  expect((await provider.listStoredSessions()).map(({ sessionId }) => sessionId)).toEqual(ids);
  expect(control.processes).toHaveLength(1);
  expect(await calls()).toContain('session/list');
});

test('a conversation of an agent that lists only by folder can be read', async () => {
  const { provider, projectDir, control } = await runAgent();
  const sessions = [stored('a', projectDir, '2026-01-01T00:00:00Z')];
  await control.play({ sessions, listWithoutFolder: 'refuse' });
  const turns = await provider.readStoredHistory('a', projectDir);
  expect(turns[0]?.events[0]?.timestamp).toBe('2026-01-01T00:00:00.000Z');
});

test('an agent that cannot list sessions is not asked for a list, and the list is empty', async () => {
  const { provider, calls } = await runAgent({ offers: { list: false } });
  expect(await provider.listStoredSessions()).toEqual([]);
  expect(await calls()).toEqual(['initialize']);
});

test('an agent that requires a sign-in lists no sessions', async () => {
  const { provider } = await runAgent({
    needsAuth: true,
    on: { 'session/list': [{ error: { code: -32000, message: 'Authentication required' } }] },
  });
  expect(await provider.listStoredSessions()).toEqual([]);
});

test('a failure to list sessions is reported', async () => {
  const { provider } = await runAgent({
    on: { 'session/list': [{ error: { code: -32603, message: 'No disk' } }] },
  });
  await expect(provider.listStoredSessions()).rejects.toMatchObject({
    code: 'PROTOCOL_ERROR',
    message: expect.stringContaining('No disk'),
  });
});

test('TC-4.1b: a stored conversation is read as whole turns, the same each time', async () => {
  const { provider, projectDir, control, calls } = await runAgent();
  await control.play({ sessions: [stored('a', projectDir, '2026-01-01T00:00:00Z')] });

  const turns = await provider.readStoredHistory('a', projectDir);

  expect(turns.map(messagesIn)).toEqual([
    ['user: What is it?', 'agent: It is 42.'],
    ['user: Sure?', 'agent: Sure.'],
  ]);
  expect(await provider.readStoredHistory('a', projectDir)).toEqual(turns);
  expect(turns[0]?.events[0]?.timestamp).toBe('2026-01-01T00:00:00.000Z');
  expect(await calls()).not.toContain('session/prompt');
});

test('a conversation that the agent does not have is reported as not found', async () => {
  const { provider, projectDir } = await runAgent();
  await expect(provider.readStoredHistory('no', projectDir)).rejects.toMatchObject(
    coded('SESSION_NOT_FOUND'),
  );
});

test('TC-4.1b: a loaded session continues, and its replay is not shown again', async () => {
  const { another, projectDir, control } = await runAgent();
  await control.play({ sessions: [stored('a', projectDir)] });
  const provider = another();
  const listener = new Listener(provider, 'a');

  const { reportedTurns: told, ...session } = await provider.loadSession('a', { projectDir });
  expect(session).toEqual({ sessionId: 'a', cliType: 'scripted' });
  expect((await told)?.map(messagesIn)).toEqual([
    ['user: What is it?', 'agent: It is 42.'],
    ['user: Sure?', 'agent: Sure.'],
  ]);

  const { params } = await control.until('session/load');
  expect(params).toEqual({ sessionId: 'a', cwd: projectDir, mcpServers: [] });
  expect(messagesOf(await listener.ask('And now?'))).toEqual([
    'user: And now?',
    'agent: You said: And now?',
  ]);
  expect(new Set(listener.events.map(({ turnId }) => turnId)).size).toBe(1);
});

test('updates about the session itself in a replay are passed on', async () => {
  const { another, projectDir, control } = await runAgent();
  const title = { sessionUpdate: 'session_info_update', title: 'Told in the replay' };
  const session = { ...stored('a', projectDir), updates: [...conversation, title] };
  await control.play({ sessions: [session] });
  const provider = another();
  const listener = new Listener(provider, 'a');
  await provider.loadSession('a', { projectDir });
  await listener.until(() => listener.updates.find((one) => one.title === 'Told in the replay'));
  expect(listener.events).toEqual([]);
});

test('an agent that can resume is not asked for a replay', async () => {
  const { another, projectDir, control, calls } = await runAgent();
  await control.play({ sessions: [stored('a', projectDir)], offers: { resume: true, load: true } });
  const provider = another();
  await provider.loadSession('a', { projectDir });
  await control.until('session/resume');
  expect(await calls()).not.toContain('session/load');
});

test('a session of Liminal’s is continued under the agent’s own id', async () => {
  const { create, provider, another, control, projectDir } = await runAgent();
  const listener = await create();
  await listener.ask('Remember 42.');
  const agentSessionId = await listener.agentSessionId();
  expect(agentSessionId).not.toBe(listener.sessionId);
  await provider.close();

  const later = another();
  await later.loadSession(listener.sessionId, { projectDir, agentSessionId });

  const { params } = await control.until('session/load');
  expect(params['sessionId']).toBe(agentSessionId);
  expect(messagesOf(await new Listener(later, listener.sessionId).ask('Still?'))).toContain(
    'user: Still?',
  );
});

test('a session that the agent has lost is reported as not found, and no process is left', async () => {
  const { provider, projectDir, control } = await runAgent();
  const loading = provider.loadSession(randomUUID(), { projectDir, agentSessionId: 'lost' });
  await expect(loading).rejects.toMatchObject(coded('SESSION_NOT_FOUND'));
  await (
    await control.process()
  ).gone;
});

test('a session unknown to Liminal that the agent refuses with any error is reported as not found', async () => {
  const { provider, projectDir, control } = await runAgent({
    on: { 'session/load': [{ error: { code: -32603, message: 'Service failure' } }] },
  });
  const loading = provider.loadSession(randomUUID(), { projectDir });
  await expect(loading).rejects.toMatchObject({
    code: 'SESSION_NOT_FOUND',
    message: expect.stringContaining('Service failure'),
  });
  await (
    await control.process()
  ).gone;
});

test('a lost session that had an answer is replaced by a new session, with a notice', async () => {
  const { provider, projectDir } = await runAgent();
  const sessionId = randomUUID();
  const listener = new Listener(provider, sessionId);
  const hasAnswered = async (): Promise<boolean> => true;
  await provider.loadSession(sessionId, { projectDir, agentSessionId: 'lost', hasAnswered });
  const response = await listener.ask('What was it?');
  expect(messagesOf(response)).toContain('agent: You said: What was it?');
  expect(messagesOf(response).join()).toMatch(/no longer has this session.*does not know/);
  expect(await listener.agentSessionId()).not.toBe('lost');
});

test.each<[string, Step[], RegExp]>([
  [
    'is refused',
    [{ error: { code: -32603, message: 'The file is broken' } }],
    /could not resume this session\. The file is broken\. .*does not know/,
  ],
  [
    'ends its agent',
    [{ exit: { code: 3 } }],
    /could not resume this session\. The process exited with code 3\. .*does not know/,
  ],
])(
  'a session whose load %s is replaced by a new session once, with a notice of the reason',
  async (_name, steps, why) => {
    const { create, another, projectDir, control } = await runAgent();
    const before = await create();
    await before.ask('Remember 42.');
    const agentSessionId = await before.agentSessionId();
    await control.play({ on: { 'session/load': steps } });
    const provider = another();
    const { sessionId } = before;
    const listener = new Listener(provider, sessionId);

    await provider.loadSession(sessionId, { projectDir, agentSessionId });

    const response = await listener.ask('What was it?');
    expect(messagesOf(response)).toContain('agent: You said: What was it?');
    expect(messagesOf(response).join()).toMatch(why);
    expect(messagesOf(await listener.ask('And now?')).join()).not.toContain('does not know');
    // Later messages continue the new session.
    expect(await listener.agentSessionId()).not.toBe(agentSessionId);
  },
);

test('a session whose load requires a sign-in is not replaced: it can be resumed after the sign-in', async () => {
  const { create, another, projectDir, control, calls } = await runAgent();
  const before = await create();
  await before.ask('Remember 42.');
  const agentSessionId = await before.agentSessionId();
  await control.play({
    on: { 'session/load': [{ error: { code: -32000, message: 'Expired.' } }] },
  });
  const hasAnswered = async (): Promise<boolean> => true;
  const loading = another().loadSession(before.sessionId, {
    projectDir,
    agentSessionId,
    hasAnswered,
  });
  await expect(loading).rejects.toMatchObject({
    code: 'SESSION_CREATE_FAILED',
    message: expect.stringContaining('wants you to sign in first. It says: Expired.'),
  });
  expect((await calls()).filter((method) => method === 'session/new')).toHaveLength(1);
});

test('a session that another client has open is not replaced: it can be resumed later', async () => {
  const { create, another, projectDir, control, calls } = await runAgent();
  const before = await create();
  await before.ask('Remember 42.');
  const agentSessionId = await before.agentSessionId();
  const data = { reason: 'thread_active_writer' };
  const error = { code: -32600, message: 'It is in use: close it there.', data };
  await control.play({ on: { 'session/load': [{ error }] } });
  const hasAnswered = async (): Promise<boolean> => true;
  const loading = another().loadSession(before.sessionId, {
    projectDir,
    agentSessionId,
    hasAnswered,
  });
  await expect(loading).rejects.toMatchObject({
    code: 'SESSION_CREATE_FAILED',
    message: expect.stringContaining('It is in use: close it there.'),
  });
  expect((await calls()).filter((method) => method === 'session/new')).toHaveLength(1);
});

test('the notice of a replaced session waits for the first message', async () => {
  const { create, provider, another, projectDir, control } = await runAgent();
  const before = await create();
  await before.ask('Remember 42.');
  const agentSessionId = await before.agentSessionId();
  await provider.close();
  await control.play({ on: { 'session/load': [{ error: { code: -1, message: 'No.' } }] } });
  const later = another();
  await later.loadSession(before.sessionId, { projectDir, agentSessionId });
  await later.killSession(before.sessionId);
  await later.loadSession(before.sessionId);
  const told = messagesOf(await new Listener(later, before.sessionId).ask('Hm?'));
  expect(told.filter((one) => one.includes('does not know what was said before'))).toHaveLength(1);
});

testAtLength(
  'a replay that comes after the answer is not part of the next turn, and is read as history',
  async () => {
    const { another, projectDir, control } = await runAgent();
    const script = { sessions: [stored('a', projectDir)], replaysAfterAnswer: 100 };
    await control.play(script);
    const provider = another();
    const history = await provider.readStoredHistory('a', projectDir);
    expect(history.map(messagesIn)).toEqual([
      ['user: What is it?', 'agent: It is 42.'],
      ['user: Sure?', 'agent: Sure.'],
    ]);
    const listener = new Listener(provider, 'a');
    await provider.loadSession('a', { projectDir });
    expect(messagesOf(await listener.ask('And now?'))).toEqual([
      'user: And now?',
      'agent: You said: And now?',
    ]);
    expect(new Set(listener.events.map(({ turnId }) => turnId)).size).toBe(1);
  },
);

test('a replay that continues after the answer is not part of the next turn', async () => {
  const { another, projectDir, control } = await runAgent();
  const session = stored('a', projectDir);
  const context = text('user_message_chunk', '<session_context>');
  const replay = session.updates.map((update) => ({ update }));
  await control.play({
    sessions: [{ ...session, updates: [] }],
    on: { 'session/load': [{ update: context }, { answer: true }, ...replay] },
  });
  const provider = another();
  const listener = new Listener(provider, 'a');
  const { reportedTurns: told } = await provider.loadSession('a', { projectDir });
  expect(messagesOf(await listener.ask('And now?'))).toEqual([
    'user: And now?',
    'agent: You said: And now?',
  ]);
  expect(new Set(listener.events.map(({ turnId }) => turnId)).size).toBe(1);
  expect((await told)?.map(messagesIn)).toEqual([
    ['user: <session_context>What is it?', 'agent: It is 42.'],
    ['user: Sure?', 'agent: Sure.'],
  ]);
});

testAtLength('a message waits for a replay that is due, even if the replay is late', async () => {
  const { another, projectDir, control } = await runAgent();
  const session = stored('a', projectDir);
  const replay = session.updates.map((update) => ({ update }));
  await control.play({
    sessions: [{ ...session, updates: [] }],
    on: { 'session/load': [{ answer: true }, { pauseMs: 1_200 }, ...replay] },
    turns: [{ steps: [{ pauseMs: 2_400 }, { say: 'Now.' }] }],
  });
  const provider = another();
  const listener = new Listener(provider, 'a');
  await provider.loadSession('a', { projectDir, hasAnswered: async () => true });
  expect(messagesOf(await listener.ask('And now?'))).toEqual(['user: And now?', 'agent: Now.']);
});

test('an agent is asked for a replay if its session has changed since the last one', async () => {
  const { another, calls, projectDir, control } = await runAgent();
  const session = stored('a', projectDir, '2026-01-01T00:00:00Z');
  await control.play({ offers: { resume: true }, sessions: [session] });
  const first = another();
  const { reportedTurns: told } = await first.loadSession('a', { projectDir });
  expect((await told)?.map(({ turnId }) => turnId)).toEqual(['a:1', 'a:2']);
  const storedMark = await first.storedMark('a', projectDir);
  expect(storedMark).toBe('2026-01-01T00:00:00Z');
  await first.close();
  expect(await first.storedMark('a', projectDir)).toBeUndefined();

  const second = another();
  const again = await second.loadSession('a', { projectDir, ...(storedMark && { storedMark }) });
  expect(await again.reportedTurns).toEqual([]);
  expect((await calls()).filter((method) => /load|resume/.test(method))).toEqual([
    'session/load',
    'session/resume',
  ]);
});

test('text that the agent sends without a prompt after a load is shown, with or without a replay', async () => {
  const { another, projectDir, control } = await runAgent();
  const news = { update: text('agent_message_chunk', 'I am back.') };
  await control.play({
    sessions: [{ ...stored('a', projectDir), updates: [] }],
    on: { 'session/load': [{ answer: true }, news] },
  });
  const provider = another();
  const listener = new Listener(provider, 'a');
  await provider.loadSession('a', { projectDir });
  const own = await listener.until(() => listener.events[0]?.turnId);
  await listener.ask('And now?');
  expect(messagesOf(await listener.response(own))).toEqual(['agent: I am back.']);
});

test('a session that was loaded and got no message since is loaded again, not replaced', async () => {
  const { provider, projectDir, control, calls } = await runAgent();
  await control.play({ sessions: [stored('a', projectDir)] });
  await provider.loadSession('a', { projectDir });
  await provider.killSession('a');
  await provider.loadSession('a');
  const methods = await calls();
  expect(methods.filter((method) => method === 'session/load')).toHaveLength(2);
  expect(methods).not.toContain('session/new');
});

test('a session that never had a message is replaced by a new session', async () => {
  const { create, provider, calls } = await runAgent({ storesAtFirstPrompt: true });
  const listener = await create();
  await provider.killSession(listener.sessionId);
  await provider.loadSession(listener.sessionId);
  expect(messagesOf(await listener.ask('Hi.'))).toEqual(['user: Hi.', 'agent: You said: Hi.']);
  expect((await calls()).filter((method) => method === 'session/new')).toHaveLength(2);
});

test('an agent that cannot resume sessions begins a new session, with a notice', async () => {
  const script: AgentScript = { offers: { load: false, resume: false } };
  const { create, provider } = await runAgent(script);
  const listener = await create();
  await listener.ask('Remember 42.');
  await provider.killSession(listener.sessionId);

  await provider.loadSession(listener.sessionId);

  const response = await listener.ask('What was it?');
  expect(messagesOf(response)).toContain('agent: You said: What was it?');
  expect(messagesOf(response).join()).toContain('does not know what was said before');
  expect(messagesOf(await listener.ask('And now?')).join()).not.toContain('does not know');
});

test('an unknown session of an agent that cannot load is refused', async () => {
  const { provider, projectDir } = await runAgent({ offers: { load: false } });
  await expect(provider.loadSession('a', { projectDir })).rejects.toMatchObject(
    coded('SESSION_NOT_FOUND'),
  );
});
