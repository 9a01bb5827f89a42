import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bearer, startServer, type TestServer } from './harness.ts';

const most = 8;
let server: TestServer;
let sockets: Socket[];

beforeEach(async () => {
  server = await startServer({ limits: { connections: most } });
  sockets = [];
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close();
});

/** Connects a client that sends a text, reads the response, and never closes its side of the connection. */
async function linger(says: string): Promise<void> {
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined).resume();
  sockets.push(socket);
  await once(socket, 'connect');
  socket.write(says);
}

const isServed = async (): Promise<boolean> => {
  try {
    const options = { headers: { ...bearer, connection: 'close' } };
    return (await fetch(`${server.url}/api/agents`, options)).ok;
  } catch {
    return false;
  }
};

test.each([
  ['no HTTP', 'This is no HTTP.\r\n\r\n'],
  [
    'a broken upgrade',
    `GET /ws HTTP/1.1\r\nhost: 127.0.0.1:PORT\r\nauthorization: ${bearer.authorization}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: no\r\n\r\n`,
  ],
  [
    'an upgrade without a token',
    'GET /ws HTTP/1.1\r\nhost: 127.0.0.1:PORT\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  ],
  ['a last request', 'GET /healthz HTTP/1.1\r\nhost: 127.0.0.1:PORT\r\nconnection: close\r\n\r\n'],
])('SAFE: clients that send %s and never leave do not block other clients', async (_, says) => {
  for (let n = 0; n < 2 * most; n += 1) await linger(says.replaceAll('PORT', `${server.port}`));
  await expect.poll(isServed, { timeout: 60_000 }).toBe(true);
});
