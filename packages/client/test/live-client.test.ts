import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ClientMessage, ServerMessage } from '@liminal/protocol';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type WebSocket as ServerSocket, WebSocketServer } from 'ws';
import { ApiError, createClient, type LiminalClient, type Store } from '@liminal/client';

/** A server that the test controls, with one session. */
class Stage {
  readonly http: Server;
  readonly sockets: ServerSocket[] = [];
  readonly received: ClientMessage[] = [];
  readonly requests: string[] = [];
  /** Whether the server accepts clients. */
  accepts = true;
  answer: (path: string) => { status: number; body?: unknown } = () => ({ status: 200, body: {} });

  constructor() {
    this.http = createServer((request, response) => {
      const path = `${request.method} ${request.url}`;
      this.requests.push(path);
      const { status, body } = this.answer(path);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(body === undefined ? '' : JSON.stringify(body));
    });
    const verifyClient = (_: unknown, decide: (accepted: boolean, status: number) => void) =>
      decide(this.accepts, 401);
    new WebSocketServer({ server: this.http, path: '/ws', verifyClient }).on(
      'connection',
      (socket) => {
        this.sockets.push(socket);
        socket.on('message', (data: Buffer) => {
          this.received.push(JSON.parse(data.toString()) as ClientMessage);
        });
      },
    );
  }

  send(message: ServerMessage): void {
    this.sockets.at(-1)?.send(JSON.stringify(message));
  }

  subscriptions() {
    return this.received.filter((message) => message.type === 'session:subscribe');
  }
}

let stage: Stage;
let client: LiminalClient;

beforeEach(async () => {
  stage = new Stage();
  stage.http.listen(0, '127.0.0.1');
  await once(stage.http, 'listening');
  stage.answer = (path) => {
    if (path.endsWith('/api/projects')) return { status: 200, body: { projects: [] } };
    if (path.endsWith('/load')) return { status: 200, body: { sessionId: 's1', cliType: 'demo' } };
    return { status: 404, body: { error: { code: 'NOT_HERE', message: `No ${path}.` } } };
  };
  const { port } = stage.http.address() as AddressInfo;
  client = createClient({ baseUrl: `http://127.0.0.1:${port}`, token: 'secret' });
});

afterEach(() => {
  client.close();
  for (const socket of stage.sockets) socket.terminate();
  stage.http.close();
  stage.http.closeAllConnections();
});

it('the client subscribes to a session, and continues from its cursor after the connection broke', async () => {
  const session = client.session('s1');
  await until(() => stage.subscriptions().length === 1);
  expect(stage.subscriptions()[0]).toEqual({
    type: 'session:subscribe',
    sessionId: 's1',
    deltas: true,
  });
  stage.send(historyOf('snapshot', 'Hel', 't1:4'));
  await until(() => session.getSnapshot().phase === 'ready');

  stage.sockets.at(-1)?.terminate();
  await until(() => stage.subscriptions().length === 2);
  expect(stage.subscriptions()[1]).toMatchObject({ cursor: 't1:4' });
  stage.send(historyOf('tail', 'Hello', 't1:6'));
  await until(() => textOf(session) === 'Hello');
});

it('after an append that does not fit, the client subscribes again once', async () => {
  const session = client.session('s1');
  await until(() => stage.subscriptions().length === 1);
  stage.send(historyOf('snapshot', 'Hel', 't1:4'));
  const where = { sessionId: 's1', turnId: 't1', itemId: 'a' };
  stage.send({ type: 'session:append', ...where, at: 7, text: 'x', cursor: 't1:8' });
  stage.send({ type: 'session:append', ...where, at: 8, text: 'y', cursor: 't1:9' });
  await until(() => stage.subscriptions().length === 2);
  expect(stage.subscriptions()[1]).toMatchObject({ cursor: 't1:4' });
  stage.send(historyOf('tail', 'Hello xy', 't1:9'));
  await until(() => textOf(session) === 'Hello xy');
  expect(stage.subscriptions()).toHaveLength(2);
});

it('many messages that arrive together cause one notification', async () => {
  const session = client.session('s1');
  await until(() => stage.subscriptions().length === 1);
  stage.send(historyOf('snapshot', '', 't1:0'));
  await until(() => session.getSnapshot().phase === 'ready');
  let notified = 0;
  session.subscribe(() => {
    notified += 1;
  });
  const where = { sessionId: 's1', turnId: 't1', itemId: 'a', cursor: 't1:1' };
  for (let at = 0; at < 500; at += 1) {
    stage.send({ type: 'session:append', ...where, at, text: 'x' });
  }
  await until(() => textOf(session).length === 500);
  expect(notified).toBeLessThan(400);
});

it('a message that the server refuses keeps its text, gets a reason, and can be sent again', async () => {
  const session = client.session('s1');
  await session.send('Do it');
  const [failed] = session.getSnapshot().pending;
  expect(failed).toMatchObject({
    message: 'Do it',
    state: 'failed',
    error: { code: 'NOT_HERE', message: 'No POST /api/session/s1/send.' },
  });
  stage.answer = () => ({ status: 202, body: { turnId: 't9', queued: false } });
  await session.sendAgain(failed!.turnId);
  expect(session.getSnapshot().pending).toMatchObject([{ state: 'sent' }]);
});

it('a message waits while the server is unavailable, and is sent when there is a connection', async () => {
  const session = client.session('s1');
  await until(() => stage.subscriptions().length === 1);
  const { answer } = stage;
  stage.answer = (path) => (path.endsWith('/send') ? { status: 503 } : answer(path));
  await session.send('Do it');
  expect(session.getSnapshot().pending).toMatchObject([{ message: 'Do it', state: 'waiting' }]);
  stage.answer = (path) =>
    path.endsWith('/send') ? { status: 202, body: { turnId: 't9', queued: false } } : answer(path);
  stage.sockets.at(-1)?.terminate();
  await until(() => session.getSnapshot().pending[0]?.state === 'sent');
});

it('a refused request rejects with its code, status and message', async () => {
  const refusal = client.requests.status('none');
  await expect(refusal).rejects.toBeInstanceOf(ApiError);
  await expect(refusal).rejects.toMatchObject({
    code: 'NOT_HERE',
    status: 404,
    message: 'No GET /api/session/none/status.',
  });
});

it('a search sends any text and a project, and resolves with the hits', async () => {
  const hit = {
    sessionId: 's1',
    cliType: 'demo',
    projectId: 'p',
    title: 't',
    snippet: 'a "b" & c',
  };
  stage.answer = () => ({ status: 200, body: { hits: [hit] } });
  const found = await client.requests.search('"b" & c', { projectId: 'p', limit: 5 });
  expect(found.hits).toEqual([hit]);
  expect(stage.requests.at(-1)).toBe('GET /api/search?q=%22b%22+%26+c&projectId=p&limit=5');
});

it('an answer with a wrong shape and an unavailable server cause different errors', async () => {
  stage.answer = () => ({ status: 200, body: { agents: 'none' } });
  await expect(client.requests.listAgents()).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER' });
  stage.http.close();
  stage.http.closeAllConnections();
  await expect(client.requests.listAgents()).rejects.toMatchObject({
    code: 'UNREACHABLE',
    status: 0,
  });
});

it('a client that the server does not accept has the state `refused`, and connects on a retry after the server accepts it', async () => {
  const { connection } = client;
  await until(() => connection.getSnapshot().state === 'open');
  const welcome = stage.answer;
  stage.accepts = false;
  stage.answer = () => ({ status: 401, body: { error: { code: 'UNAUTHORIZED', message: 'No.' } } });
  stage.sockets.at(-1)?.terminate();
  await until(() => connection.getSnapshot().state === 'refused');
  stage.accepts = true;
  stage.answer = welcome;
  client.retry();
  await until(() => connection.getSnapshot().state === 'open');
  expect(stage.sockets).toHaveLength(2);
});

it('loads that fail temporarily are retried automatically', async () => {
  const away = { error: { code: 'STORE_READ_FAILED', message: 'The database is away.' } };
  const { answer } = stage;
  stage.answer = () => ({ status: 503, body: away });
  const session = client.session('s1');
  await until(() => session.getSnapshot().problem?.message === 'The database is away.');
  await until(() => client.sessions.getSnapshot().phase === 'failed');
  expect(session.getSnapshot().phase).toBe('failed');
  stage.answer = answer;
  await until(() => stage.subscriptions().length === 1);
  await until(() => client.sessions.getSnapshot().phase === 'ready');

  // A subscription that fails is also retried.
  const problem = { code: 'REDIS_UNAVAILABLE', message: 'Redis is away.' };
  stage.send({ type: 'session:error', sessionId: 's1', ...problem });
  await until(() => session.getSnapshot().problem?.message === 'Redis is away.');
  await until(() => stage.subscriptions().length === 2);
  stage.send(historyOf('snapshot', 'Hello', 't1:4'));
  await until(() => textOf(session) === 'Hello');
  expect(session.getSnapshot()).toMatchObject({ phase: 'ready', problem: undefined });
});

it('a request without an answer on an open connection is sent again', async () => {
  const isLoad = (path: string | undefined) => path?.endsWith('/load') === true;
  stage.http.prependListener('request', ({ url, socket }) => {
    if (isLoad(url) && stage.requests.filter(isLoad).length === 0) socket.destroy();
  });
  client.session('s1');
  await until(() => stage.subscriptions().length === 1);
  expect(stage.sockets).toHaveLength(1);
});

it('loading a session that does not exist fails with the server’s message', async () => {
  const session = client.session('s2');
  stage.answer = () => ({
    status: 404,
    body: { error: { code: 'SESSION_NOT_FOUND', message: 'No s2.' } },
  });
  await until(() => session.getSnapshot().phase === 'failed');
  expect(session.getSnapshot().problem).toEqual({ code: 'SESSION_NOT_FOUND', message: 'No s2.' });
});

it('when a session is deleted, its view and its subscription end, and its unsent messages are removed', async () => {
  const session = client.session('s1');
  await until(() => stage.subscriptions().length === 1);
  stage.send(historyOf('snapshot', 'Hello', 't1:4'));
  await until(() => session.getSnapshot().phase === 'ready');
  await session.send('Refused');
  expect(session.getSnapshot().pending).toMatchObject([{ state: 'failed' }]);
  const removed: string[] = [];
  client.sessions.removed.on((ids) => removed.push(...ids));
  stage.send({ type: 'session:deleted', sessionId: 's1' });
  stage.send({ type: 'sessions:changed', sessions: [], removed: ['s1', 's9'] });
  await until(() => removed.length > 0);
  expect(removed).toEqual(['s1', 's9']);
  expect(session.getSnapshot()).toMatchObject({ phase: 'deleted', turns: [], pending: [] });
  client.release('s1');
  expect(client.session('s1').getSnapshot().pending).toEqual([]);
});

it('if a session no longer exists when the server is available again, its view shows it as deleted', async () => {
  const session = client.session('s1');
  await until(() => stage.subscriptions().length === 1);
  stage.send(historyOf('snapshot', 'Hello', 't1:4'));
  await until(() => session.getSnapshot().phase === 'ready');
  const { answer } = stage;
  const body = { error: { code: 'SESSION_NOT_FOUND', message: 'No s1.' } };
  stage.answer = (path) => (path.endsWith('/load') ? { status: 404, body } : answer(path));
  stage.sockets.at(-1)?.terminate();
  await until(() => session.getSnapshot().phase === 'deleted');
});

function historyOf(resumed: 'tail' | 'snapshot', content: string, cursor: string): ServerMessage {
  const time = '2026-01-01T00:00:00.000Z';
  const at = { sourceTimestamp: time, emittedAt: time };
  const ids = { turnId: 't1', sessionId: 's1', itemId: 'a' };
  return {
    type: 'session:history',
    sessionId: 's1',
    resumed,
    turns: [
      {
        turnId: 't1',
        runId: 't1',
        modelId: '',
        providerId: '',
        status: 'in_progress',
        startedAt: 0,
      },
    ],
    entries: [{ type: 'message', origin: 'agent', status: 'update', content, ...ids, ...at }],
    cursor,
    hasMore: false,
  };
}

function textOf(
  session: Store<ReturnType<ReturnType<LiminalClient['session']>['getSnapshot']>>,
): string {
  const item = session.getSnapshot().turns[0]?.items[0];
  return item !== undefined && 'content' in item ? item.content : '';
}

/** Resolves when `holds` returns true. Only the timeout of the test limits the wait. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}
