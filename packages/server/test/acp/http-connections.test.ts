/** Tests ACP connections over streamable HTTP, on which requests arrive one by one. */
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import WebSocket from 'ws';
import type { Limits } from '../../src/limits.ts';
import { bearer, eventually, startServer, type TestServer } from '../harness.ts';
import { head, RawConnection } from '../raw-connection.ts';
import { rawRequest, upgradeHeaders } from '../raw-request.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

const path = '/acp?agent=demo';

async function startAgain(limits: Partial<Limits>): Promise<void> {
  const started = await startServer({ limits });
  [server] = [started, await server.close()];
}

const post = async (body: string, headers: Record<string, string> = {}) =>
  rawRequest(server.port, {
    method: 'POST',
    path,
    headers: { ...bearer, 'content-type': 'application/json', ...headers },
    body,
  });

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: 1, clientCapabilities: {} },
});

async function openConnection(): Promise<string> {
  const answer = await post(initialize);
  expect(answer.status, answer.text).toBe(200);
  return String(answer.headers['acp-connection-id']);
}

const listSessions = async (id: string): Promise<number> => {
  const body = { jsonrpc: '2.0', id: 1, method: 'session/list', params: {} };
  return (await post(JSON.stringify(body), { 'acp-connection-id': id })).status;
};

/** Opens a connection's event stream, and resolves once its response has begun. */
async function openStream(id: string): Promise<RawConnection> {
  const stream = await new RawConnection(server.port).opened();
  const headers = { accept: 'text/event-stream', 'acp-connection-id': id };
  stream.send(head(server.port, `GET ${path}`, headers));
  await eventually(() => stream.received).toContain('HTTP/1.1 200');
  return stream;
}

async function metric(name: string): Promise<number> {
  const { text } = await rawRequest(server.port, { path: '/metrics', headers: bearer });
  return Number(new RegExp(`^liminal_${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

test('if a request ends while another request is open, the connection stays open', async () => {
  // Long enough to open the stream on a busy machine before the connection ends.
  await startAgain({ acpIdleMs: 2_000 });
  const kept = await openConnection();
  const stream = await openStream(kept);
  expect(await listSessions(kept)).toBe(202);
  const left = await openConnection();
  await eventually(async () => metric('acp_http_connections')).toBe(1);
  expect(await listSessions(left)).toBe(404);
  expect(await listSessions(kept)).toBe(202);
  stream.socket.destroy();
  await eventually(async () => metric('acp_http_connections')).toBe(0);
});

test('if the first request is rejected, no connection is opened', async () => {
  const rejected = [
    await post('{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}'),
    await post('no JSON'),
    await rawRequest(server.port, { path, headers: { ...bearer, accept: 'text/event-stream' } }),
    await rawRequest(server.port, { method: 'DELETE', path, headers: bearer }),
  ];
  for (const { status } of rejected) expect(status).toBeGreaterThanOrEqual(400);
  expect(await metric('acp_http_connections')).toBe(0);
});

test('if a request has more messages than the limit allows, it is rejected, and its connection stays open', async () => {
  await startAgain({ acpMessageBytes: 10_000 });
  const id = await openConnection();
  const large = {
    jsonrpc: '2.0',
    id: 1,
    method: 'session/list',
    params: { cwd: '/'.repeat(9_999) },
  };
  const headers = { 'acp-connection-id': id };
  expect((await post(JSON.stringify(large), headers)).status).toBe(413);
  expect(await listSessions(id)).toBe(202);
});

test('SAFE: the responses on a connection have the headers that protect all responses', async () => {
  const [{ headers }, other] = [
    await post(initialize),
    await rawRequest(server.port, { path: '/healthz' }),
  ];
  const names = Object.keys(other.headers).filter((name) => /policy|^x-/.test(name));
  expect(names.length).toBeGreaterThan(3);
  for (const name of names) expect(headers[name], name).toBe(other.headers[name]);
});

test('when a server closes, it ends the streams of its connections', async () => {
  const stream = await openStream(await openConnection());
  await Promise.all([server.app.close(), stream.closed]);
  expect(stream.isClosed).toBe(true);
});

test('on a full server, a new client is rejected, and requests on an open connection are still answered', async () => {
  await startAgain({ streams: 2 });
  const id = await openConnection();
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}${path}`, { headers: bearer });
  await once(socket, 'open');
  expect(await listSessions(id)).toBe(202);
  const headers = { ...bearer, ...upgradeHeaders };
  const full = { status: 503, code: 'TOO_MANY_CONNECTIONS' };
  const rejected = await rawRequest(server.port, { path, headers });
  expect(rejected).toMatchObject(full);
  expect(rejected.text).toContain('Too many streams are open; close some first.');
  // An upgrade opens a new connection, whatever connection id its request contains.
  expect(
    await rawRequest(server.port, { path, headers: { ...headers, 'acp-connection-id': id } }),
  ).toMatchObject(full);
  expect(await post(initialize)).toMatchObject(full);
  socket.terminate();
});

test('the first request must contain an agent type', async () => {
  const answer = await rawRequest(server.port, {
    method: 'POST',
    path: '/acp',
    headers: { ...bearer, 'content-type': 'application/json' },
    body: initialize,
  });
  expect(answer).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
  expect(answer.text).toContain('Name the agent in the URL');
});

test('the method HEAD is rejected, because ACP does not have it', async () => {
  const { status } = await rawRequest(server.port, { method: 'HEAD', path, headers: bearer });
  expect(status).toBe(404);
});
