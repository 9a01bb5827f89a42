/** Tests `/acp` over the network, with the clients of the protocol's SDK. */
import { once } from 'node:events';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import type { Stream } from '@agentclientprotocol/sdk';
import { createHttpStream } from '@agentclientprotocol/sdk/experimental/http-client';
import {
  createWebSocketStream,
  type WebSocketConstructor,
} from '@agentclientprotocol/sdk/experimental/ws-client';
import { checkedStream } from '@liminal/testkit/acp-schema';
import { afterEach, beforeEach, expect, test } from 'vitest';
import WebSocket from 'ws';
import { Editor } from '../editor/editor.ts';
import { bearer, eventually, startServer, type TestServer, token } from '../harness.ts';
import { rawRequest } from '../raw-request.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startServer();
});

afterEach(async () => {
  await server.close();
});

const address = (scheme: 'http' | 'ws', agent = 'demo') =>
  `${server.url.replace('http', scheme)}/acp?agent=${agent}`;

const bySocket = (): Stream =>
  createWebSocketStream(address('ws'), {
    WebSocket: WebSocket as unknown as WebSocketConstructor,
    headers: bearer,
  });
const byHttp = (): Stream => createHttpStream(address('http'), { headers: bearer });

test.each([
  ['WebSocket', bySocket],
  ['streamable HTTP', byHttp],
])(
  'a client over %s can send a prompt, answer a question, and load the session of another client',
  async (_, stream) => {
    const meet = async (): Promise<Editor> => {
      const editor = new Editor(server.folder, {}, (app) => app.connect(checkedStream(stream())));
      await editor.hello();
      return editor;
    };
    const first = await meet();
    const sessionId = await first.create();
    await server.runtime.setConfig(sessionId, 'pace', 'instant');
    expect(await first.prompt(sessionId, 'approve')).toMatchObject({ stopReason: 'end_turn' });
    expect(first.agentText).not.toBe('');

    const second = await meet();
    await second.load(sessionId);
    expect(second.agentText).toBe(first.agentText);
    first.leave();
    expect(await second.prompt(sessionId, 'Hi')).toMatchObject({ stopReason: 'end_turn' });
    second.leave();
    await eventually(async () => openStreams()).toBe(0);
  },
);

async function openStreams(): Promise<number> {
  const metrics = await (await fetch(`${server.url}/metrics`, { headers: bearer })).text();
  return Number(/^liminal_websockets (\d+)$/m.exec(metrics)?.[1]);
}

async function refusal(url: string, headers: Record<string, string> = bearer) {
  const socket = new WebSocket(url, { headers });
  const [, response] = (await once(socket, 'unexpected-response')) as [
    unknown,
    AsyncIterable<Buffer> & { statusCode: number },
  ];
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece);
  const { error } = JSON.parse(Buffer.concat(pieces).toString()) as { error: unknown };
  return { status: response.statusCode, error };
}

test('a connection is rejected if it has no token, no agent type, or an unknown agent type', async () => {
  expect(await refusal(address('ws'), {})).toMatchObject({ status: 403 });
  const wrong = { authorization: `Bearer ${token}x` };
  expect(await refusal(address('ws'), wrong)).toMatchObject({ status: 403 });
  expect(await refusal(`${server.url.replace('http', 'ws')}/acp`)).toEqual({
    status: 400,
    error: {
      code: 'INVALID_REQUEST',
      message: 'Name the agent in the URL: /acp?agent=… (scripted, demo).',
    },
  });
  const [byPost, nobody] = await Promise.all([
    fetch(address('http', 'nobody'), { method: 'POST', headers: bearer, body: '{}' }),
    refusal(address('ws', 'nobody')),
  ]);
  const there = 'There is no agent nobody. Choose one of: scripted, demo.';
  expect(nobody).toMatchObject({ status: 400, error: { message: there } });
  expect(byPost.status).toBe(400);
  expect(await byPost.json()).toMatchObject({ error: { message: there } });
  expect((await fetch(address('http'), { method: 'POST', body: '{}' })).status).toBe(403);
});

test('a request by a page of another origin is rejected, even with the token', async () => {
  const headers = { ...bearer, origin: 'http://example.org' };
  expect(await refusal(address('ws'), headers)).toMatchObject({ status: 403 });
});

test('an absolute URL in the request line is accepted, as HTTP requires', async () => {
  const { status, text } = await rawRequest(server.port, {
    method: 'POST',
    path: address('http'),
    headers: { ...bearer, 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}',
  });
  expect(status, text).toBe(200);
  expect(JSON.parse(text)).toMatchObject({ id: 0, result: { protocolVersion: 1 } });
});

test('a message that is too large ends only its own connection', async () => {
  await server.close();
  server = await startServer({ limits: { acpMessageBytes: 10_000 } });
  const [large, small] = [0, 1].map(() => new WebSocket(address('ws'), { headers: bearer }));
  await Promise.all([once(large!, 'open'), once(small!, 'open')]);
  const closed = once(large!, 'close');
  large!.on('error', () => {});
  large!.send(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'x'.repeat(20_000) }));
  expect((await closed)[0]).toBe(1009);
  const params = { protocolVersion: 1, clientCapabilities: {} };
  small!.send(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }));
  const [answer] = (await once(small!, 'message')) as [Buffer];
  expect(JSON.parse(answer.toString())).toMatchObject({ id: 0, result: { protocolVersion: 1 } });
  small!.terminate();
});

test('a connection with one message per line closes when its client ends its side or sends a message that is too large', async () => {
  await server.close();
  server = await startServer({ limits: { acpMessageBytes: 10_000 } });
  const [ended, large] = await Promise.all([byLines(), byLines()]);
  const closed = Promise.all([once(ended, 'close'), once(large, 'close')]);
  expect(await openStreams()).toBe(2);
  ended.end('{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}\n');
  large.write('x'.repeat(20_000));
  await closed;
  await eventually(async () => openStreams()).toBe(0);
});

/** Opens an ACP connection with one message per line, and returns its socket. */
async function byLines(): Promise<Socket> {
  const headers = { ...bearer, connection: 'Upgrade', upgrade: 'acp-lines' };
  const [, socket] = (await once(request(address('http'), { headers }).end(), 'upgrade')) as [
    unknown,
    Socket,
  ];
  // A socket reports that the other side has closed only while the socket is being read.
  return socket.on('error', () => {}).resume();
}

test.each([
  ['the id', '{"jsonrpc":"2.0","id":DEEP,"method":"session/list"}'],
  ['no method', '{"jsonrpc":"2.0","id":1,"more":DEEP}'],
  ['the parameters', '{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":DEEP}}'],
])('if a message in %s is nested too deeply, its connection does not end', async (_, line) => {
  const socket = new WebSocket(address('ws'), { headers: bearer });
  await once(socket, 'open');
  const ended = once(socket, 'close').then(([code]) => `closed with ${code}`);
  const answered = new Promise<string>((resolve) => {
    socket.on('message', (data: Buffer) => {
      const message = data.toString();
      if (message.includes('"id":"last"')) resolve(message);
    });
  });
  const params = { protocolVersion: 1, clientCapabilities: {} };
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 'first', method: 'initialize', params }));
  socket.send(line.replace('DEEP', `${'['.repeat(50_000)}${']'.repeat(50_000)}`));
  socket.send('{"jsonrpc":"2.0","id":"last","method":"session/list","params":{}}');
  expect(await Promise.race([answered, ended])).toContain('"sessions":[]');
  socket.terminate();
});

test('when a server closes, it ends its clients’ connections', async () => {
  const socket = new WebSocket(address('ws'), { headers: bearer });
  await once(socket, 'open');
  const lines = await byLines();
  const closed = Promise.all([once(socket, 'close'), once(lines, 'close')]);
  await server.app.close();
  await closed;
  expect(socket.readyState).toBe(WebSocket.CLOSED);
});

test('a ping of a WebSocket is answered once, with the same data', async () => {
  const socket = new WebSocket(address('ws'), { headers: bearer });
  await once(socket, 'open');
  const pongs: string[] = [];
  socket.on('pong', (data: Buffer) => pongs.push(data.toString()));
  const params = { protocolVersion: 1, clientCapabilities: {} };
  socket.ping('one');
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }));
  await once(socket, 'message');
  expect(pongs).toEqual(['one']);
  socket.terminate();
});

test('if the client of a WebSocket answers nothing, the WebSocket is ended', async () => {
  await server.close();
  server = await startServer({ limits: { heartbeatMs: 200 } });
  const socket = new WebSocket(address('ws'), { headers: bearer, autoPong: false });
  await once(socket, 'open');
  expect((await once(socket, 'close'))[0]).toBe(1006);
});

test('if a client with one message per line cuts its connection, only this connection ends', async () => {
  const [cut, kept] = [await byLines(), await byLines()];
  cut.write('{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}\n');
  cut.resetAndDestroy();
  await eventually(async () => openStreams()).toBe(1);
  const answer = once(kept, 'data') as Promise<[Buffer]>;
  kept.write('{"jsonrpc":"2.0","id":2,"method":"session/list","params":{}}\n');
  expect(String(await answer)).toContain('"id":2');
  kept.destroy();
});
