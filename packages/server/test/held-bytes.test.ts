/** Tests the limit on the memory that all clients use together. */
import { once } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import WebSocket from 'ws';
import { bearer, startServer, type TestServer } from './harness.ts';
import { head, RawConnection } from './raw-connection.ts';
import { upgradeHeaders } from './raw-request.ts';

const MiB = 1024 * 1024;
const upload = { 'content-type': 'application/octet-stream', 'content-length': MiB };

let server: TestServer;
const opened: RawConnection[] = [];

afterEach(async () => {
  for (const { socket } of opened.splice(0)) socket.destroy();
  await server.close();
});

async function begin(line: string, headers = {}): Promise<RawConnection> {
  const connection = await new RawConnection(server.port).opened();
  opened.push(connection);
  connection.send(head(server.port, line, headers));
  return connection;
}

test('SAFE: if all request bodies together exceed their limit, the connection that has been silent longest ends', async () => {
  server = await startServer({ limits: { heldBytes: 2 * MiB } });
  const most = Buffer.alloc(0.9 * MiB);
  const silent = await begin('POST /api/blob', upload);
  silent.send(most);
  const other = await begin('POST /api/blob', upload);
  other.send(most);
  const third = await begin('POST /api/blob', upload);
  third.send(most);
  await silent.closed;
  expect([other.isClosed, third.isClosed]).toEqual([false, false]);
  other.send(Buffer.alloc(MiB - most.length));
  expect(await other.answer()).toMatchObject({ status: 201 });
});

test('SAFE: unfinished messages of ACP WebSockets count toward the total limit, and finished messages do not', async () => {
  server = await startServer({ limits: { heldBytes: 2 * MiB } });
  const address = `${server.url.replace('http', 'ws')}/acp?agent=demo`;
  const busy = new WebSocket(address, { headers: bearer });
  await once(busy, 'open');
  const padding = 'x'.repeat(0.9 * MiB);
  for (const [id, method] of ['initialize', 'session/list', 'session/list'].entries()) {
    const params = { protocolVersion: 1, _meta: { padding } };
    busy.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    const [answer] = (await once(busy, 'message')) as [Buffer];
    expect(JSON.parse(answer.toString())).toMatchObject({ id, result: {} });
  }
  const sendPart = async (): Promise<RawConnection> => {
    const connection = await begin('GET /acp?agent=demo', upgradeHeaders);
    await vi.waitFor(() => expect(connection.received).toContain('HTTP/1.1 101'), {
      timeout: 60_000,
    });
    // The head of a frame with a text of 16 MiB, and the frame's mask.
    connection.send(Buffer.from('81ff000000000100000000000000', 'hex'));
    connection.send(Buffer.alloc(1.2 * MiB));
    return connection;
  };
  const silent = await sendPart();
  const other = await sendPart();
  await silent.closed;
  expect(other.isClosed).toBe(false);
  expect(busy.readyState).toBe(WebSocket.OPEN);
  busy.terminate();
});

test('SAFE: if all unread responses together exceed their limit, their connections end', async () => {
  server = await startServer({ limits: { heldBytes: MiB } });
  const { uri } = await server.runtime.putBlob(Buffer.alloc(16 * MiB, 'x'), 'text/plain');
  const deaf = await new RawConnection(server.port).opened();
  opened.push(deaf);
  deaf.socket.pause();
  // The first responses fit into the buffers of the operating system.
  deaf.send(head(server.port, `GET /api/blob/${uri.replace(/^.*[:/]/, '')}`).repeat(8));
  const reads = await begin('GET /api/agents');
  expect(await reads.answer()).toMatchObject({ status: 200 });
  await expect
    .poll(
      async () => {
        const open = Promise.withResolvers<number>();
        server.app.server.getConnections((_error, count) => open.resolve(count));
        return open.promise;
      },
      { timeout: 60_000 },
    )
    .toBe(1);
  expect(reads.isClosed).toBe(false);
});

test('SAFE: responses that wait behind an endless response also count toward the limit', async () => {
  server = await startServer({ limits: { heldBytes: MiB, pipelined: 1_000 } });
  const request = { cliType: 'scripted', projectDir: server.folder };
  const { sessionId } = await server.runtime.createSession(request);
  const { length } = await (await fetch(`${server.url}/openapi.json`, { headers: bearer })).text();
  const many = Math.ceil((4 * MiB) / length);
  // All requests are in one packet. The server stops reading requests while too many responses wait.
  const waiting = head(server.port, 'GET /openapi.json').repeat(many);
  const deaf = await begin(`GET /api/session/${sessionId}/stream`);
  await vi.waitFor(() => expect(deaf.received).toContain('200 OK'), { timeout: 60_000 });
  deaf.send(waiting);
  await deaf.closed;
  expect(deaf.received).not.toContain('openapi');
});

const big = Buffer.alloc(16 * MiB, 'x');

test.each([
  [
    'files',
    async () => {
      const { uri } = await server.runtime.putBlob(big, 'text/plain');
      const made = vi.spyOn(server.runtime, 'getBlob');
      return { made, path: `/api/blob/${uri.replace(/^.*[:/]/, '')}` };
    },
  ],
  [
    'exports',
    async () => {
      const made = vi.spyOn(server.runtime, 'exportSession');
      made.mockImplementation(async () =>
        (async function* () {
          yield big.toString();
        })(),
      );
      return { made, path: '/api/session/s/export' };
    },
  ],
])(
  'SAFE: if a client requests several %s at the same time, they are made one at a time, each after the client has read the previous one',
  async (_what, prepare) => {
    server = await startServer();
    const { made, path } = await prepare();
    const deaf = await new RawConnection(server.port).opened();
    opened.push(deaf);
    deaf.socket.pause();
    deaf.send(head(server.port, `GET ${path}`).repeat(8));
    await vi.waitFor(() => expect(made).toHaveBeenCalled(), { timeout: 60_000 });
    const other = await fetch(`${server.url}${path}`, { headers: bearer });
    expect((await other.arrayBuffer()).byteLength).toBe(big.length);
    expect(made).toHaveBeenCalledTimes(2);
    deaf.socket.resume();
    await vi.waitFor(() => expect(made).toHaveBeenCalledTimes(9), { timeout: 60_000 });
  },
);

test('SAFE: a program that requests hundreds of histories at once does not block another program with the same token', async () => {
  server = await startServer();
  const gate = Promise.withResolvers<void>();
  const made: string[] = [];
  vi.spyOn(server.runtime, 'history').mockImplementation(async (sessionId) => {
    made.push(sessionId);
    await gate.promise;
    return { entries: [], turns: [], cursor: '', hasMore: false };
  });
  const ask = async (program: string): Promise<number> => {
    const headers = { ...bearer, 'user-agent': program };
    const answer = await fetch(`${server.url}/api/session/${program}/history`, { headers });
    await answer.arrayBuffer();
    return answer.status;
  };
  const connections = async (): Promise<number> => {
    const open = Promise.withResolvers<number>();
    server.app.server.getConnections((_error, count) => open.resolve(count));
    return open.promise;
  };
  const answers = Array.from({ length: 200 }, async () => ask('flood'));
  await expect.poll(connections, { timeout: 60_000 }).toBe(200);
  answers.push(ask('other'));
  await expect.poll(connections, { timeout: 60_000 }).toBe(201);
  // The response to a later request shows that the server has read all earlier requests.
  await fetch(`${server.url}/healthz`);
  gate.resolve();
  expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
  expect(made.indexOf('other')).toBeLessThan(20);
});
