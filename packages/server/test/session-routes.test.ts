import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ProviderError } from '@liminal/agents';
import { HistoryPage, type Response, type SessionSummary } from '@liminal/protocol';
import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { bearer, eventually, startServer, type TestServer } from './harness.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

type Method = NonNullable<InjectOptions['method']>;

async function ask(method: Method, url: string, payload?: object) {
  const answer = await server.app.inject({
    method,
    url,
    headers: bearer,
    ...(payload && { payload }),
  });
  return { status: answer.statusCode, body: answer.json<Record<string, never>>() };
}

const refused = (status: number, code: string) => ({ status, body: { error: { code } } });

/** Makes a project folder and a session in this folder. */
async function createSession(
  name: string = crypto.randomUUID(),
): Promise<{ id: string; folder: string }> {
  const folder = join(server.folder, name);
  mkdirSync(folder, { recursive: true });
  const body = { cliType: 'scripted', projectDir: folder };
  const answer = await ask('POST', '/api/session/create', body);
  return { id: answer.body['sessionId']!, folder };
}

async function list(projectId: string): Promise<SessionSummary[]> {
  const answer = await ask('GET', `/api/session/list?projectId=${encodeURIComponent(projectId)}`);
  expect(answer.status).toBe(200);
  return answer.body['sessions']!;
}

describe('searching', () => {
  async function search(query: Record<string, string>): Promise<object[]> {
    const answer = await ask('GET', `/api/search?${new URLSearchParams(query)}`);
    expect(answer.status).toBe(200);
    return answer.body['hits']!;
  }

  test('a search finds titles and messages of a project, with their session and position', async () => {
    const [{ id, folder }, other] = [await createSession(), await createSession()];
    await ask('POST', `/api/session/${id}/title`, { title: 'A Quokka at work' });
    const sent = await ask('POST', `/api/session/${id}/send`, { message: 'draw a "quokka"' });
    await ask('POST', `/api/session/${id}/cancel`);
    const session = { sessionId: id, cliType: 'scripted', projectId: folder };
    await eventually(() => search({ q: 'quok' })).toMatchObject([
      { ...session, title: 'A Quokka at work', snippet: 'A Quokka at work' },
      { ...session, item: { runId: sent.body['turnId'] }, snippet: 'draw a "quokka"' },
    ]);
    expect(await search({ q: 'quok', limit: '1' })).toHaveLength(1);
    expect(await search({ q: 'work quokka', projectId: folder })).toHaveLength(1);
    expect(await search({ q: 'quokka', projectId: other.folder })).toEqual([]);
    expect(await search({ q: '' })).toEqual([]);
  });

  test('a search is refused if its query has no text, has too long a text, or has too high a limit', async () => {
    for (const query of ['', 'q=a&limit=0', 'q=a&limit=101', `q=${'a'.repeat(1_001)}`]) {
      expect(await ask('GET', `/api/search?${query}`)).toMatchObject(refused(400, 'INVALID_QUERY'));
    }
  });
});

describe('creating, listing and loading', () => {
  test('NFR-000-10, TC-6.1a Create session returns session handle', async () => {
    const body = { cliType: 'scripted', projectDir: server.folder };
    const answer = await ask('POST', '/api/session/create', body);
    expect(answer).toEqual({
      status: 201,
      body: { sessionId: expect.any(String), cliType: 'scripted' },
    });
    expect(server.agent.calls).toContain(`createSession ${answer.body['sessionId']}`);
  });

  test('TC-6.1b Create session with unknown CLI type returns error', async () => {
    const body = { cliType: 'gemini', projectDir: server.folder };
    const answer = await ask('POST', '/api/session/create', body);
    expect(answer).toMatchObject(refused(400, 'UNSUPPORTED_CLI_TYPE'));
    expect(answer.body['error']!['message']).toContain('gemini');
  });

  test('TC-6.1c List sessions returns active sessions for a project', async () => {
    const [a, b] = [await createSession('project-a'), await createSession('project-a')];
    const other = await createSession('project-b');
    const sessions = await list(a.folder);
    expect(sessions.map((each) => each.sessionId).toSorted()).toEqual([a.id, b.id].toSorted());
    expect(sessions[0]).toMatchObject({
      cliType: 'scripted',
      projectId: a.folder,
      projectDir: a.folder,
      state: 'idle',
      isAlive: true,
      active: true,
    });
    expect((await list(other.folder)).map((each) => each.sessionId)).toEqual([other.id]);
    expect(await list('/nowhere')).toEqual([]);
  });

  test('TC-6.1d List sessions requires projectId', async () => {
    const refusal = refused(400, 'PROJECT_ID_REQUIRED');
    expect(await ask('GET', '/api/session/list')).toMatchObject(refusal);
    expect(await ask('GET', '/api/session/list?projectId=')).toMatchObject(refusal);
  });

  test('TC-6.1e Load session routes to provider loadSession', async () => {
    const { id } = await createSession();
    await ask('POST', `/api/session/${id}/kill`);
    const answer = await ask('POST', `/api/session/${id}/load`);
    expect(answer).toEqual({ status: 200, body: { sessionId: id, cliType: 'scripted' } });
    // Loading a session starts no agent. The agent's loadSession is called only with the first message.
    await ask('POST', `/api/session/${id}/send`, { message: 'hello' });
    expect(server.agent.calls.filter((call) => call.endsWith(id)).slice(-2)).toEqual([
      `loadSession ${id}`,
      `sendMessage ${id}`,
    ]);
  });

  test('TC-6.1f Load session for nonexistent session returns error', async () => {
    const answer = await ask('POST', '/api/session/nobody/load');
    expect(answer).toMatchObject(refused(404, 'SESSION_NOT_FOUND'));
  });
});

describe('messages', () => {
  test('TC-6.2a Send message routes to the correct provider', async () => {
    const { id } = await createSession();
    const answer = await ask('POST', `/api/session/${id}/send`, { message: 'hello' });
    expect(answer).toEqual({ status: 202, body: { turnId: expect.any(String), queued: false } });
    expect(server.agent.calls.at(-1)).toBe(`sendMessage ${id}`);
    expect((await ask('GET', `/api/session/${id}/status`)).body).toMatchObject({
      state: 'running',
    });
  });

  test('TC-6.2b Send message to nonexistent session returns error', async () => {
    const answer = await ask('POST', '/api/session/nobody/send', { message: 'hello' });
    expect(answer).toMatchObject(refused(404, 'SESSION_NOT_FOUND'));
  });

  test('TC-6.2c Cancel routes to the correct provider', async () => {
    const { id } = await createSession();
    await ask('POST', `/api/session/${id}/send`, { message: 'hello' });
    expect(await ask('POST', `/api/session/${id}/cancel`)).toEqual({ status: 200, body: {} });
    expect(server.agent.calls.at(-1)).toBe(`cancelTurn ${id}`);
  });

  test('a cancel that the agent refuses is answered with 502 INTERRUPT_FAILED', async () => {
    const { id } = await createSession();
    await ask('POST', `/api/session/${id}/send`, { message: 'hello' });
    const failure = new ProviderError('INTERRUPT_FAILED', 'It does not listen.');
    vi.spyOn(server.agent, 'cancel').mockRejectedValueOnce(failure);
    expect(await ask('POST', `/api/session/${id}/cancel`)).toEqual({
      status: 502,
      body: { error: { code: 'INTERRUPT_FAILED', message: 'It does not listen.' } },
    });
    const status = await ask('GET', `/api/session/${id}/status`);
    expect(status.body).toMatchObject({ state: 'running', isAlive: true });
  });

  test('TC-6.2d Returned turnId is the canonical turn identifier', async () => {
    const { id } = await createSession();
    const sent = await ask('POST', `/api/session/${id}/send`, { message: 'hello' });
    const turnId: string = sent.body['turnId']!;
    const message = server.agent.message(id);
    message.more('Hi.');
    message.done();
    server.agent.end(id);
    await eventually(async () => (await ask('GET', `/api/run/${turnId}`)).body).toMatchObject({
      status: 'complete',
      turnId,
    });
    const history = (await ask('GET', `/api/session/${id}/history`)).body as unknown as HistoryPage;
    expect(history.entries.map((entry) => entry.turnId)).toEqual([turnId, turnId]);
    expect(history.turns.map((turn) => turn.turnId)).toEqual([turnId]);
  });

  test('a message that is sent during a turn waits in the queue, where it can be changed and removed', async () => {
    const { id } = await createSession();
    await ask('POST', `/api/session/${id}/send`, { message: 'first' });
    const second = await ask('POST', `/api/session/${id}/send`, { message: 'second' });
    expect(second.body).toMatchObject({ queued: true });
    const place = `/api/session/${id}/queue/${second.body['turnId']}`;
    expect(await ask('PUT', place, { message: 'changed' })).toEqual({ status: 200, body: {} });
    expect((await server.runtime.info(id)).queue).toMatchObject([{ message: 'changed' }]);
    expect(await ask('DELETE', place)).toEqual({ status: 200, body: {} });
    expect((await server.runtime.info(id)).queue).toEqual([]);
    expect(await ask('DELETE', place)).toMatchObject(refused(409, 'MESSAGE_NOT_QUEUED'));
  });

  test('the request for a steered message is answered with the running turn, as soon as the message is in the log', async () => {
    const { id } = await createSession();
    const steer = async (body: object) => ask('POST', `/api/session/${id}/steer`, body);
    expect(await steer({ message: 'A word.' })).toMatchObject(refused(409, 'NOTHING_TO_STEER'));
    expect(await steer({ message: '' })).toMatchObject(refused(400, 'INVALID_BODY'));
    const { turnId } = (await ask('POST', `/api/session/${id}/send`, { message: 'Go' })).body;
    const messageId = crypto.randomUUID();

    expect(await steer({ message: 'A word.', messageId })).toEqual({
      status: 202,
      body: { turnId },
    });

    const { entries } = HistoryPage.parse((await ask('GET', `/api/session/${id}/history`)).body);
    expect(entries.at(-1)).toMatchObject({
      itemId: `${String(turnId)}:said:${messageId}`,
      content: 'A word.',
      delivery: 'sent',
    });
  });

  test('waiting messages can be moved in the queue, and steered into the running turn', async () => {
    const { id } = await createSession();
    const send = async (message: string): Promise<string> =>
      (await ask('POST', `/api/session/${id}/send`, { message })).body['turnId']!;
    const [running, one, two] = [await send('Go'), await send('one'), await send('two')];
    const queue = `/api/session/${id}/queue`;

    expect(await ask('POST', `${queue}/${two}/move`, { before: one })).toEqual({
      status: 200,
      body: {},
    });
    expect(await ask('POST', `${queue}/${one}/move`, { before: 'gone' })).toMatchObject(
      refused(409, 'MESSAGE_NOT_QUEUED'),
    );
    expect(await ask('POST', `${queue}/${two}/now`)).toEqual({
      status: 200,
      body: { turnId: running, steered: true },
    });
    expect(await ask('POST', `${queue}/${two}/now`)).toMatchObject(
      refused(409, 'MESSAGE_NOT_QUEUED'),
    );
  });

  test('an empty message is refused, and the error contains the name of its field', async () => {
    const { id } = await createSession();
    const answer = await ask('POST', `/api/session/${id}/send`, { message: '' });
    expect(answer).toMatchObject(refused(400, 'INVALID_BODY'));
    expect(answer.body['error']!['message']).toContain('message');
  });
});

describe('approvals', () => {
  test('the first answer to a request counts, and a second answer is refused', async () => {
    const { id } = await createSession();
    await ask('POST', `/api/session/${id}/send`, { message: 'delete it' });
    server.agent.emit(id, {
      type: 'item_start',
      itemId: 'a1',
      itemType: 'approval',
      approvalId: 'a1',
      title: 'Delete it?',
      options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
    });
    const answer = (approvalId: string) =>
      ask('POST', `/api/session/${id}/approval/${approvalId}`, { optionId: 'yes' });
    expect((await ask('GET', `/api/session/${id}/status`)).body).toMatchObject({
      state: 'waiting',
    });
    expect(await answer('a1')).toEqual({ status: 200, body: {} });
    expect(server.agent.calls.at(-1)).toBe(`answerApproval ${id} a1 {"optionId":"yes"}`);
    expect(await answer('a1')).toMatchObject(refused(409, 'APPROVAL_ALREADY_ANSWERED'));
    expect(await answer('a2')).toMatchObject(refused(404, 'APPROVAL_NOT_FOUND'));
  });
});

test('the answer to a request can contain the values of the request’s form', async () => {
  const { id } = await createSession();
  await ask('POST', `/api/session/${id}/send`, { message: 'ask me' });
  const form = { properties: { name: { type: 'string' } }, required: ['name'] };
  server.agent.emit(id, {
    type: 'item_start',
    itemId: 'a1',
    itemType: 'approval',
    title: 'Your name?',
    options: [{ optionId: 'yes', name: 'Answer', kind: 'allow_once' }],
    form,
  });
  const { entries } = HistoryPage.parse((await ask('GET', `/api/session/${id}/history`)).body);
  expect(entries).toContainEqual(expect.objectContaining({ type: 'approval', form }));
  const content = { name: 'Ada', tags: ['a'], age: 36, ok: true };
  const answer = { optionId: 'yes', content, note: 'Use it well.' };

  expect(await ask('POST', `/api/session/${id}/approval/a1`, answer)).toMatchObject({
    status: 200,
  });

  expect(server.agent.calls.at(-1)).toBe(`answerApproval ${id} a1 ${JSON.stringify(answer)}`);
});

describe('processes', () => {
  test('TC-6.3a Session kill terminates the provider process', async () => {
    const { id, folder } = await createSession();
    expect(await ask('POST', `/api/session/${id}/kill`)).toEqual({ status: 200, body: {} });
    expect(server.agent.calls.at(-1)).toBe(`killSession ${id}`);
    expect(server.agent.isAlive(id)).toBe(false);
    expect(await list(folder)).toEqual([]);
    expect(await ask('POST', '/api/session/nobody/kill')).toMatchObject(
      refused(404, 'SESSION_NOT_FOUND'),
    );
  });

  test('TC-6.3b Session status reflects provider state', async () => {
    const { id } = await createSession();
    const status = async () => (await ask('GET', `/api/session/${id}/status`)).body;
    const handle = { sessionId: id, cliType: 'scripted' };
    expect(await status()).toEqual({ ...handle, isAlive: true, state: 'idle' });
    await ask('POST', `/api/session/${id}/send`, { message: 'hello' });
    expect(await status()).toEqual({ ...handle, isAlive: true, state: 'running' });
    await ask('POST', `/api/session/${id}/kill`);
    expect(await status()).toEqual({ ...handle, isAlive: false, state: 'idle' });
  });
});

describe('forking', () => {
  async function demoSession() {
    const body = { cliType: 'demo', projectDir: server.folder };
    const id: string = (await ask('POST', '/api/session/create', body)).body['sessionId']!;
    const { turnId } = (await ask('POST', `/api/session/${id}/send`, { message: 'one' })).body;
    await ask('POST', `/api/session/${id}/cancel`);
    const isOver = async () => (await ask('GET', `/api/session/${id}/status`)).body['state'];
    await eventually(isOver).toBe('idle');
    return { path: `/api/session/${id}/fork`, id, turnId };
  }

  test('a fork is a new session that contains the id of the original session', async () => {
    const { path, id, turnId } = await demoSession();
    const fork = await ask('POST', path, { turnId });
    expect(fork).toEqual({
      status: 201,
      body: { sessionId: expect.not.stringMatching(id), cliType: 'demo' },
    });
    const { sessionId } = fork.body;
    const { entries } = (await ask('GET', `/api/session/${sessionId}/history`)).body;
    expect(entries![0]).toMatchObject({ sessionId, content: 'one' });
    const forkedFrom = { sessionId: id, turnId, title: 'one' };
    expect(await list(server.folder)).toContainEqual(
      expect.objectContaining({ sessionId, title: 'Fork of one', forkedFrom }),
    );
    const withoutTurn = await ask('POST', path, { sessionId: crypto.randomUUID() });
    expect(withoutTurn.status).toBe(201);
    expect((await ask('POST', path)).status).toBe(201);
  });

  test('a fork is refused for an unknown turn, for an id that is already used, and for an agent that cannot fork', async () => {
    const { path, id } = await demoSession();
    const refusal = async (body: object) => ask('POST', path, body);
    expect(await refusal({ turnId: 'x' })).toMatchObject(refused(404, 'TURN_NOT_FOUND'));
    expect(await refusal({ sessionId: id })).toMatchObject(refused(409, 'SESSION_ID_TAKEN'));
    expect(await refusal({ turnId: '' })).toMatchObject(refused(400, 'INVALID_BODY'));
    expect(await refusal({ sessionId: '../x' })).toMatchObject(refused(400, 'INVALID_BODY'));
    const other = await createSession();
    const answer = await ask('POST', `/api/session/${other.id}/fork`);
    expect(answer).toMatchObject(refused(409, 'NOT_SUPPORTED'));
  });
});

describe('other operations', () => {
  test('a session can be renamed', async () => {
    const { id, folder } = await createSession();
    const path = `/api/session/${id}/title`;
    expect(await ask('POST', path, { title: '  A name ' })).toEqual({ status: 200, body: {} });
    expect(await list(folder)).toMatchObject([{ title: 'A name' }]);
    expect(await ask('POST', path, { title: ' ' })).toMatchObject(refused(400, 'INVALID_BODY'));
  });

  test('a session can be archived and pinned, and unarchived and unpinned', async () => {
    const { id, folder } = await createSession();
    const done = { status: 200, body: {} };
    for (const mark of ['archive', 'pin']) {
      expect(await ask('POST', `/api/session/${id}/${mark}`)).toEqual(done);
    }
    expect(await list(folder)).toMatchObject([{ archived: true, pinned: true }]);
    for (const mark of ['unarchive', 'unpin']) {
      expect(await ask('POST', `/api/session/${id}/${mark}`)).toEqual(done);
    }
    const [session] = await list(folder);
    expect(session).not.toHaveProperty('archived');
    expect(session).not.toHaveProperty('pinned');
    expect(await ask('POST', '/api/session/nobody/pin')).toMatchObject(
      refused(404, 'SESSION_NOT_FOUND'),
    );
  });

  test('a session can be deleted, and a second deletion also succeeds', async () => {
    const { id, folder } = await createSession();
    for (const _ of ['once', 'again']) {
      expect(await ask('DELETE', `/api/session/${id}`)).toEqual({ status: 200, body: {} });
    }
    expect(server.agent.isAlive(id)).toBe(false);
    expect(await list(folder)).toEqual([]);
    const gone = refused(404, 'SESSION_NOT_FOUND');
    expect(await ask('POST', `/api/session/${id}/load`)).toMatchObject(gone);
    expect(await ask('DELETE', '/api/session/nobody')).toMatchObject(gone);
  });

  test('a background task can be stopped', async () => {
    const { id } = await createSession();
    const stop = (task: string) => ask('POST', `/api/session/${id}/task/${task}/stop`);
    expect(await stop('dev')).toEqual({ status: 200, body: {} });
    expect(server.agent.calls.at(-1)).toBe(`stopTask ${id} dev`);
    expect(await stop('tests')).toMatchObject(refused(404, 'TASK_NOT_FOUND'));
  });

  test('the MCP servers of a session are listed, and can be changed by name', async () => {
    const { id } = await createSession();
    expect(await ask('GET', `/api/session/${id}/mcp`)).toEqual({
      status: 200,
      body: {
        servers: [{ name: 'mail', state: 'signed-out', actions: ['sign-in', 'off'] }],
      },
    });
    const change = (name: string, action: string) =>
      ask('POST', `/api/session/${id}/mcp/${encodeURIComponent(name)}`, { action });
    expect(await change('mail', 'sign-in')).toEqual({
      status: 200,
      body: { url: 'https://mail.example/sign-in' },
    });
    expect(await change('plugin:a/b', 'off')).toEqual({ status: 200, body: {} });
    expect(server.agent.calls.at(-1)).toBe(`changeMcpServer ${id} plugin:a/b off`);
    expect(await change('mail', 'explode')).toMatchObject(refused(400, 'INVALID_BODY'));
    expect(await ask('GET', '/api/session/nobody/mcp')).toMatchObject(
      refused(404, 'SESSION_NOT_FOUND'),
    );
  });

  test('one running call or all running calls can be moved to the background', async () => {
    const { id } = await createSession();
    const send = (body: object) => ask('POST', `/api/session/${id}/background`, body);
    expect(await send({ callId: 'a' })).toEqual({ status: 200, body: {} });
    expect(server.agent.calls.at(-1)).toBe(`background ${id} a`);
    expect(await send({})).toEqual({ status: 200, body: {} });
    expect(server.agent.calls.at(-1)).toBe(`background ${id} all`);
    expect(await send({ callId: 'done' })).toMatchObject(refused(404, 'TASK_NOT_FOUND'));
    expect(await send({ callId: 7 })).toMatchObject(refused(400, 'INVALID_BODY'));
  });

  test('a question outside the conversation is answered, and an empty question is refused', async () => {
    const { id } = await createSession();
    const aside = (question: string) => ask('POST', `/api/session/${id}/aside`, { question });
    expect(await aside(' Why? ')).toEqual({ status: 200, body: { answer: 'Re: Why?' } });
    expect(await aside(' ')).toMatchObject(refused(400, 'INVALID_BODY'));
  });

  test('a session’s setup is listed, with its folder and its ids', async () => {
    const { id, folder } = await createSession();
    expect(await ask('GET', `/api/session/${id}/setup`)).toEqual({
      status: 200,
      body: {
        facts: [
          { name: 'Session', value: id },
          { name: 'Folder', value: folder },
          { name: 'Version', value: '1.2.3' },
        ],
        parts: [{ kind: 'hooks', entries: [{ name: 'Stop', detail: 'true' }] }],
      },
    });
  });

  test('additional folders can be added to and removed from a session, and are listed with the session', async () => {
    const { id, folder } = await createSession();
    const [beside, other] = [`${folder}-beside`, `${folder}-other`];
    for (const each of [beside, other]) mkdirSync(each);
    const change = (body: object) => ask('POST', `/api/session/${id}/directories`, body);
    expect(await change({ add: [beside, other] })).toEqual({
      status: 200,
      body: { additionalDirectories: [beside, other] },
    });
    expect(server.agent.calls.at(-1)).toBe(`setDirectories ${id} ${beside},${other}`);
    await change({ remove: [other] });
    expect(await list(folder)).toMatchObject([{ additionalDirectories: [beside] }]);
    expect(await change({ add: ['/'] })).toMatchObject(refused(403, 'PROJECT_DIR_NOT_ALLOWED'));
    expect(await change({ add: ['x'.repeat(5_000)] })).toMatchObject(refused(400, 'INVALID_BODY'));
  });

  test('an option that the agent does not have is refused', async () => {
    const { id } = await createSession();
    const answer = await ask('POST', `/api/session/${id}/config`, { id: 'model', value: 'x' });
    expect(answer).toMatchObject(refused(409, 'NOT_SUPPORTED'));
  });

  test('agents and projects are listed', async () => {
    const { folder } = await createSession();
    const agents = await ask('GET', '/api/agents');
    expect(agents.body).toMatchObject({
      agents: [
        { cliType: 'scripted', available: true },
        { cliType: 'demo', available: true, demo: true, forks: true },
      ],
    });
    const projects = (await ask('GET', '/api/projects')).body['projects']!;
    expect(projects).toContainEqual(expect.objectContaining({ projectDir: folder }));
  });

  test('history is returned in pages', async () => {
    const { id } = await createSession();
    const { turnId } = (await ask('POST', `/api/session/${id}/send`, { message: 'one' })).body;
    for (const name of ['a', 'b', 'c']) {
      const message = server.agent.message(id, name);
      message.more(name);
      message.done();
    }
    server.agent.end(id);
    await eventually(async () => (await ask('GET', `/api/run/${turnId}`)).body).toMatchObject({
      status: 'complete',
    } satisfies Partial<Response>);
    await ask('POST', `/api/session/${id}/kill`);
    const seen: string[] = [];
    let before = '';
    do {
      const path = `/api/session/${id}/history?limit=2${before}`;
      const page = (await ask('GET', path)).body as unknown as HistoryPage;
      seen.unshift(...page.entries.map((entry) => ('content' in entry ? entry.content : '')));
      before = page.before === undefined ? '' : `&before=${encodeURIComponent(page.before)}`;
    } while (before !== '');
    expect(seen).toEqual(['one', 'a', 'b', 'c']);
  });

  test.each(['limit=0', 'limit=abc', 'limit=201', 'before=', 'before=x', 'before=x%3Ay'])(
    'the request history?%s is refused',
    async (query) => {
      const { id } = await createSession();
      const answer = await ask('GET', `/api/session/${id}/history?${query}`);
      expect(answer).toMatchObject(refused(400, 'INVALID_QUERY'));
    },
  );

  test('a request for an unknown run is refused', async () => {
    expect(await ask('GET', '/api/run/none')).toMatchObject(refused(404, 'RUN_NOT_FOUND'));
  });
});
