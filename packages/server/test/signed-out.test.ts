/** When a browser is signed out, the browser's open connections end. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { LiminalError } from '@liminal/protocol';
import { createCredentials, type Device } from '@liminal/server';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { bearer, eventually, startServer, type TestServer, token } from './harness.ts';
import { rawRequest } from './raw-request.ts';

const credentials = () => createCredentials(token);
let server: TestServer;
let signIn: () => Record<string, string>;

beforeEach(async () => {
  const ours = credentials();
  server = await startServer({ credentials: ours, limits: { acpIdleMs: 60_000 } });
  signIn = () => headersOf(ours.newDevice());
});
afterEach(() => server.close());

function headersOf({ cookie, key }: Device): Record<string, string> {
  const origin = server.url;
  return { cookie: `liminal_${server.port}=${cookie}`, 'x-liminal-key': key, origin };
}

async function signOut(headers: Record<string, string>, everywhere = false): Promise<void> {
  const answer = await rawRequest(server.port, {
    method: 'POST',
    path: '/api/sign-out',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ everywhere }),
  });
  expect(answer.status).toBe(200);
}

interface Open {
  /** Resolves when the connection has ended. For a WebSocket, resolves with the close code. */
  ended: Promise<number | undefined>;
  isOpen: () => boolean;
}

async function openSocket(path: string, headers: Record<string, string>): Promise<Open> {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}${path}`, { headers });
  await once(socket, 'open');
  const ended = once(socket, 'close').then(([code]) => code as number);
  return { ended, isOpen: () => socket.readyState === WebSocket.OPEN };
}

/** Sends a request as bytes. Resolves when the response has begun. */
async function openRequest(head: string, headers: Record<string, string>): Promise<Open> {
  const socket: Socket = connect(server.port, '127.0.0.1');
  const lines = Object.entries({ host: `127.0.0.1:${server.port}`, ...headers });
  const text = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(`${head} HTTP/1.1\r\n${text}\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 (101|200)/);
  socket.resume();
  const ended = once(socket, 'close').then(() => undefined);
  return { ended, isOpen: () => !socket.closed };
}

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: 1, clientCapabilities: {} },
};

async function openAcp(headers: Record<string, string>): Promise<string> {
  const answer = await rawRequest(server.port, {
    method: 'POST',
    path: '/acp?agent=demo',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(initialize),
  });
  expect(answer.status).toBe(200);
  return String(answer.headers['acp-connection-id']);
}

/** Requests a new session over an ACP connection by HTTP. Resolves with the response's status. */
async function newSession(
  id: string,
  headers: Record<string, string>,
  path = '/acp?agent=demo',
): Promise<number> {
  const body = { jsonrpc: '2.0', id: 1, method: 'session/new' };
  const { status } = await rawRequest(server.port, {
    method: 'POST',
    path,
    headers: { ...headers, 'content-type': 'application/json', 'acp-connection-id': id },
    body: JSON.stringify({ ...body, params: { cwd: server.folder, mcpServers: [] } }),
  });
  return status;
}

/** Opens one connection of each kind. */
const kinds: Record<string, (headers: Record<string, string>) => Promise<Open>> = {
  'a WebSocket': (headers) => openSocket('/ws', headers),
  'an ACP WebSocket': (headers) => openSocket('/acp?agent=demo', headers),
  'an ACP connection by lines': (headers) =>
    openRequest('GET /acp?agent=demo', { ...headers, connection: 'upgrade', upgrade: 'acp-lines' }),
  'an ACP event stream': async (headers) => {
    const id = await openAcp(headers);
    const stream = { ...headers, accept: 'text/event-stream', 'acp-connection-id': id };
    return openRequest('GET /acp?agent=demo', stream);
  },
  'a session’s event stream': async (headers) => {
    const { sessionId } = await server.runtime.createSession({
      cliType: 'scripted',
      projectDir: server.folder,
    });
    return openRequest(`GET /api/session/${sessionId}/stream`, headers);
  },
};

describe.each(Object.keys(kinds))('%s', (kind) => {
  const open = (headers: Record<string, string>) => kinds[kind]!(headers);

  test('the connection ends when its browser is signed out, while connections of other browsers stay open', async () => {
    const [one, other] = [signIn(), signIn()];
    const [theirs, others, programs] = [await open(one), await open(other), await open(bearer)];
    await signOut(one);
    expect(await theirs.ended).toBe(kind.includes('WebSocket') ? 1008 : undefined);
    expect(others.isOpen()).toBe(true);
    expect(programs.isOpen()).toBe(true);
  });

  test('the connection ends when every browser is signed out, while a program’s connection stays open', async () => {
    const [theirs, programs] = [await open(signIn()), await open(bearer)];
    await signOut(bearer, true);
    await theirs.ended;
    expect(programs.isOpen()).toBe(true);
    // A browser that signs in later is accepted at once.
    const later = await open(signIn());
    expect(later.isOpen()).toBe(true);
  });
});

test('if a signed-out browser sends messages over its closing WebSocket, the messages are dropped', async () => {
  const headers = signIn();
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/ws`, { headers });
  await once(socket, 'open');
  const received: string[] = [];
  socket.on('message', (data: Buffer) => received.push(data.toString()));
  // The client does not close its half of the connection.
  socket.pause();
  await signOut(headers);
  socket.send('{"type":"ping"}');
  socket.resume();
  await once(socket, 'close');
  expect(received).toEqual([]);
});

test('when its browser is signed out, an ACP connection by HTTP ends permanently', async () => {
  const headers = signIn();
  const id = await openAcp(headers);
  expect(await newSession(id, headers)).toBe(202);
  await signOut(headers);
  const later = signIn();
  expect(await newSession(id, later)).toBe(404);
  expect(await newSession(id, headers)).toBe(401);
  await eventually(openAcpConnections).toBe(0);
});

test('an ACP connection by HTTP can be used only by the browser or program that opened it', async () => {
  const [one, other] = [signIn(), signIn()];
  const id = await openAcp(one);
  expect(await newSession(id, other)).toBe(404);
  expect(await newSession(id, bearer)).toBe(404);
  expect(await newSession(id, one)).toBe(202);
  const programs = await openAcp(bearer);
  expect(await newSession(programs, one)).toBe(404);
});

test('a request that contains the id of its ACP connection need not contain the agent type', async () => {
  const id = await openAcp(bearer);
  expect(await newSession(id, bearer, '/acp')).toBe(202);
  expect(await newSession('unknown', bearer, '/acp')).toBe(404);
  const deleted = {
    method: 'DELETE',
    path: '/acp',
    headers: { ...bearer, 'acp-connection-id': id },
  };
  expect((await rawRequest(server.port, deleted)).status).toBe(202);
  expect(await newSession(id, bearer, '/acp')).toBe(404);
  const another = await openAcp(bearer);
  expect(await newSession(another, signIn(), '/acp')).toBe(404);
});

async function openAcpConnections(): Promise<number> {
  const { text } = await rawRequest(server.port, { path: '/metrics', headers: bearer });
  return Number(/^liminal_acp_http_connections (\d+)$/m.exec(text)?.[1]);
}

describe('an ACP connection by HTTP that its client leaves', () => {
  test('the connection ends after the idle limit, but not while the client has an open request', async () => {
    // Long enough to open the request on a busy machine before the connection ends.
    const idle = await startServer({ limits: { acpIdleMs: 2_000 } });
    [server] = [idle, await server.close()];
    const kept = await openAcp(bearer);
    const stream = { ...bearer, accept: 'text/event-stream', 'acp-connection-id': kept };
    await openRequest('GET /acp?agent=demo', stream);
    const left = await openAcp(bearer);
    await eventually(openAcpConnections).toBe(1);
    expect(await newSession(left, bearer)).toBe(404);
    expect(await newSession(kept, bearer)).toBe(202);
  });

  test('the connection ends when its client deletes it', async () => {
    const id = await openAcp(bearer);
    expect(await openAcpConnections()).toBe(1);
    const headers = { ...bearer, 'acp-connection-id': id };
    const request = { method: 'DELETE', path: '/acp?agent=demo', headers };
    expect((await rawRequest(server.port, request)).status).toBe(202);
    await eventually(openAcpConnections).toBe(0);
  });

  test('the connection counts toward the limit of open connections', async () => {
    const small = await startServer({ limits: { streams: 2 } });
    [server] = [small, await server.close()];
    await openAcp(bearer);
    await openAcp(bearer);
    const answer = await rawRequest(server.port, {
      method: 'POST',
      path: '/acp?agent=demo',
      headers: { ...bearer, 'content-type': 'application/json' },
      body: JSON.stringify(initialize),
    });
    expect(answer).toMatchObject({ status: 503, code: 'TOO_MANY_CONNECTIONS' });
  });
});

describe('on a full disk', () => {
  const full = (_done: void): never => {
    throw new LiminalError('STORE_WRITE_FAILED', 'The disk is full.');
  };
  let other: Record<string, string>;

  beforeEach(async () => {
    const ours = credentials();
    const { add, addAll } = ours.signedOut;
    Object.assign(ours.signedOut, {
      add: (deviceId: string) => full(add(deviceId)),
      addAll: () => full(addAll()),
    });
    [server] = [await startServer({ credentials: ours }), await server.close()];
    signIn = () => headersOf(ours.newDevice());
    other = signIn();
  });

  test.each([
    { everywhere: false, othersStatus: 200 },
    { everywhere: true, othersStatus: 401 },
  ])('SAFE: a sign-out with %j takes effect, and its response reports the error', async (given) => {
    const { everywhere, othersStatus } = given;
    const headers = signIn();
    const socket = await openSocket('/ws', headers);
    const answer = await rawRequest(server.port, {
      method: 'POST',
      path: '/api/sign-out',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ everywhere }),
    });
    expect(answer).toMatchObject({ status: 507, code: 'STORE_WRITE_FAILED' });
    expect(answer.headers['set-cookie']?.[0]).toContain(`liminal_${server.port}=;`);
    expect(await socket.ended).toBe(1008);
    const statusOf = async (caller: Record<string, string>) =>
      (await rawRequest(server.port, { path: '/api/agents', headers: caller })).status;
    expect([await statusOf(headers), await statusOf(other)]).toEqual([401, othersStatus]);
  });
});
