/** The connection of `liminal acp` to a server, tested against a scripted server. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { connectLines } from '../src/acp/line-connection.ts';

/** Starts a server that calls `handle` for every connection. */
async function place(handle: (socket: Socket) => void) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    handle(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, token: 'secret', path: '/acp?agent=demo' };
}

const answers = (text: string) => place((socket) => socket.once('data', () => socket.end(text)));
const agreed = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: acp-lines\r\n\r\n';

test.each([
  ['is about to end', 'HTTP/1.1 503 Service Unavailable\r\n\r\n{}'],
  ['closes the connection', ''],
])('a server that %s is treated as a server that does not run', async (_, text) => {
  const refused = connectLines(await answers(text), () => {});
  await expect(refused).rejects.toMatchObject({ code: 'ECONNRESET' });
});

test.each([
  ['{"error":{"code":"UNAUTHORIZED","message":"Who are you?"}}', 'Who are you?'],
  ['not JSON', 'The server does not accept ACP clients: HTTP/1.1 401 Unauthorized.'],
])(
  'if the server refuses the connection, the server’s message is reported: %s',
  async (body, message) => {
    const where = await answers(`HTTP/1.1 401 Unauthorized\r\n\r\n${body}`);
    const error: unknown = await connectLines(where, () => {}).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ message });
    expect(error).not.toHaveProperty('code');
  },
);

test('lines arrive complete, even if a line arrives in several parts or together with the response', async () => {
  const heard: string[] = [];
  const pieces = [`${agreed}{"a":`, '1}\n{"b"', ':"ü', '"}\n', '{"c":3}\n{"d":4}\n'];
  const where = await place((socket) => {
    const say = ([piece, ...rest]: string[]): void => {
      if (piece === undefined) socket.end();
      else socket.write(piece, () => say(rest));
    };
    socket.once('data', () => say(pieces));
  });
  const lines = await connectLines(where, (line) => heard.push(line));
  await lines.closed;
  expect(heard).toEqual(['{"a":1}', '{"b":"ü"}', '{"c":3}', '{"d":4}']);
});

test('before a connection closes, it has sent all earlier lines', async () => {
  const received = Promise.withResolvers<number>();
  const where = await place((socket) => {
    let bytes = 0;
    socket.once('data', () => {
      socket.write(agreed);
      socket.on('data', (chunk) => (bytes += chunk.length));
      socket.on('end', () => received.resolve(bytes));
    });
  });
  const lines = await connectLines(where, () => {});
  const long = 'x'.repeat(16 * 1024 * 1024);
  let isTaken = false;
  lines.write(long, () => (isTaken = true));
  await lines.close();
  expect(isTaken).toBe(true);
  expect(await received.promise).toBe(long.length + 1);
});
