/** Tests bodies that arrive slowly, and requests that are answered before their body has arrived. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { operations, serverOperations } from '@liminal/protocol';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Limits } from '../src/limits.ts';
import { startServer, type TestServer } from './harness.ts';
import { head, RawConnection } from './raw-connection.ts';

const never = 24 * 60 * 60 * 1000;
const MiB = 1024 * 1024;

let server: TestServer;
const opened: RawConnection[] = [];

afterEach(async () => {
  for (const { socket } of opened.splice(0)) socket.destroy();
  vi.restoreAllMocks();
  await server.close();
});

async function start(limits: Partial<Limits>): Promise<void> {
  server = await startServer({ limits });
}

/** Sends the head of a request, without waiting for a response. */
async function begin(
  line: string,
  headers: Record<string, string | number>,
): Promise<RawConnection> {
  const connection = await new RawConnection(server.port).opened();
  opened.push(connection);
  connection.send(head(server.port, line, headers));
  return connection;
}

const upload = { 'content-type': 'application/octet-stream' };

test('the total time of a body may be longer than the longest allowed pause', async () => {
  await start({ silenceMs: 3_000, headMs: 1_000 });
  const pieces = 14;
  const connection = await begin('POST /api/blob', { ...upload, 'content-length': pieces });
  for (let sent = 0; sent < pieces; sent += 1) {
    connection.send('x');
    await delay(300);
  }
  expect(await connection.answer()).toMatchObject({ status: 201 });
});

test.each(['POST /api/blob', 'POST /api/session/import', 'POST /api/session/create'])(
  'SAFE: if a body of %s stops arriving, the request is refused with 408',
  async (line) => {
    await start({ silenceMs: 200 });
    const headers = { 'content-type': 'application/json', 'content-length': 1_000 };
    const connection = await begin(line, headers);
    connection.send('{"type":');
    expect(await connection.answer()).toMatchObject({
      status: 408,
      error: { code: 'REQUEST_TIMEOUT' },
    });
    await connection.closed;
  },
);

test('while a body waits because the server is slow, its client is not treated as silent', async () => {
  await start({ silenceMs: 1_000 });
  const result = { sessionId: 's', cliType: 'demo', title: 't', runs: 0, wasThere: false };
  vi.spyOn(server.runtime, 'importSession').mockImplementation(async (file) => {
    let size = 0;
    await delay(2_500);
    for await (const { length } of file) size += length;
    expect(size).toBe(2 * MiB);
    return result;
  });
  const connection = await begin('POST /api/session/import', { 'content-length': 2 * MiB });
  connection.send(Buffer.alloc(2 * MiB));
  expect(await connection.answer()).toMatchObject({ status: 201 });
});

test.each([
  ['data that is not HTTP', () => 'This is no HTTP.\r\n\r\n', 400, 'INVALID_REQUEST'],
  [
    'too many headers',
    () => `GET / HTTP/1.1\r\n${`x: ${'y'.repeat(1000)}\r\n`.repeat(100)}\r\n`,
    431,
    'HEADERS_TOO_LARGE',
  ],
  [
    'a URL that is too long',
    () => `GET /${'y'.repeat(100_000)} HTTP/1.1\r\n\r\n`,
    431,
    'HEADERS_TOO_LARGE',
  ],
])(
  'a request with %s is refused with its own status and message',
  async (_, text, status, code) => {
    await start({});
    const connection = await new RawConnection(server.port).opened();
    opened.push(connection);
    connection.send(text());
    const answer = await connection.answer();
    expect(answer).toMatchObject({ status, error: { code } });
    expect(answer.error.message === 'This is not an HTTP request.').toBe(status === 400);
  },
);

/** Every operation with a body. The address matches the operation's path. */
const withBody = Object.values({ ...operations, ...serverOperations })
  .filter(({ method }) => method !== 'GET')
  .map(({ method, path }) => `${method} ${path.replaceAll(/:\w+/g, 'x')}`);

interface Refused {
  line: string;
  headers?: Record<string, string | number>;
  statuses: number[];
}

const stranger = { authorization: 'none' };
const foreign = { origin: 'http://example.org' };
const refused: Record<string, Refused> = {
  ...Object.fromEntries(
    withBody.flatMap((line) => [
      [`${line} without a token`, { line, headers: stranger, statuses: [403] }],
      [`${line} of a page of another origin`, { line, headers: foreign, statuses: [403] }],
      [
        `${line} with a length of 3 GiB`,
        { line, headers: json(3 * 1024 * MiB), statuses: [413, 422] },
      ],
    ]),
  ),
  'a binary file': { line: 'POST /api/session/import', statuses: [422] },
  'a packed binary file': {
    line: 'POST /api/session/import',
    headers: { 'x-gzip': 'yes' },
    statuses: [422],
  },
  'an unknown route': { line: 'POST /api/nowhere', statuses: [404] },
  'an invalid URL': { line: 'POST /api/session/%zz/send', statuses: [400] },
  'an unknown content type': { line: 'POST /api/session/create', headers: upload, statuses: [415] },
  'a blob that is too large': {
    line: 'POST /api/blob',
    headers: { 'content-length': 21 * MiB },
    statuses: [413],
  },
};

function json(length: number) {
  return { 'content-type': 'application/json', 'content-length': length };
}

/**
 * Returns a part of the body. The client sends many such parts before the response: more than all buffers between
 * client and server can hold.
 */
function piece({ headers = {} }: Refused): Buffer {
  const bytes = randomBytes(256 * 1024);
  if ('x-gzip' in headers) bytes.set([0x1f, 0x8b]);
  else bytes.set([0xff]);
  return bytes;
}

describe('a request that is refused before its body has arrived', () => {
  test.each(Object.entries(refused))(
    'SAFE: the request is answered at once, even if its client stops sending: %s',
    async (_, one) => {
      await start({ silenceMs: never, drainMs: 300 });
      const length = { ...upload, 'content-length': 20 * MiB - 1 };
      const connection = await begin(one.line, { ...length, ...one.headers });
      connection.send(piece(one));
      const { status } = await connection.answer();
      expect(one.statuses).toContain(status);
      await connection.closed;
    },
  );

  test.each(['close', 'keep-alive'])(
    'SAFE: if only a small part of the body is missing, the server reads the whole body, and the client can send further requests (%s)',
    async (connectionHeader) => {
      await start({ silenceMs: never, drainMs: never });
      const headers = { ...upload, 'content-length': 2 * MiB, connection: connectionHeader };
      const connection = await begin('POST /api/session/import', headers);
      connection.send(randomBytes(MiB).fill(0xff, 0, 1));
      expect(await connection.answer()).toMatchObject({ status: 422 });
      connection.send(randomBytes(MiB));
      if (connectionHeader === 'close') return connection.closed;
      connection.send(head(server.port, 'GET /healthz'));
      expect(await connection.answer()).toMatchObject({ status: 200 });
    },
  );

  test('SAFE: the server reads the rest of the body only up to a limit', async () => {
    await start({ silenceMs: never, drainMs: never, drainBytes: MiB });
    const headers = { ...upload, 'content-length': 1024 * MiB };
    const connection = await begin('POST /api/session/import', headers);
    const timer = setInterval(() => connection.send(randomBytes(MiB).fill(0xff, 0, 1)), 10);
    expect(await connection.answer()).toMatchObject({ status: 422 });
    await connection.closed;
    clearInterval(timer);
  });

  test('SAFE: fetch can read the response, however large the file is', async () => {
    await start({});
    for (const size of [60_000, 66_000, 300_000, 5_000_000, 150_000_000]) {
      const body = new Blob([new Uint8Array(size).fill(0xff)]);
      const headers = { authorization: 'Bearer a-token-of-the-tests' };
      const url = `${server.url}/api/session/import`;
      const answer = await fetch(url, { method: 'POST', body, headers });
      expect(answer.status).toBe(422);
      expect(await answer.json()).toMatchObject({ error: { code: 'EXPORT_UNREADABLE' } });
    }
  });
});
