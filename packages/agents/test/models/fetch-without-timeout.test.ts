/** Compares `fetchWithoutTimeout` with the standard `fetch`. */
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { freePort } from '@liminal/testkit';
import { afterEach, expect, test } from 'vitest';
import {
  fetchWithoutTimeout,
  isSameServer,
  ownRefusal,
} from '../../src/own/loop/fetch-without-timeout.ts';
import { ModelError } from '../../src/own/loop/model-error.ts';

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/answers?version=1`;
}

const echo: RequestListener = (request, response) => {
  const { method, url, headers } = request;
  const { accept, authorization, 'content-type': type, 'content-length': length } = headers;
  void text(request).then((body) => {
    const said = { method, url, accept, authorization, type, length, body };
    response.setHeader('set-cookie', ['a=1', 'b=2']).end(JSON.stringify(said));
  });
};

const moved =
  (status: number): RequestListener =>
  (request, response) => {
    if (request.url === '/elsewhere') echo(request, response);
    else response.writeHead(status, { location: '/elsewhere' }).end('It is elsewhere.');
  };

const says =
  (status: number, headers: Record<string, string>, body: string | Buffer): RequestListener =>
  (_request, response) =>
    response.writeHead(status, headers).end(body);

/** A response that is sent as raw bytes. */
const raw =
  (bytes: string): RequestListener =>
  ({ socket }) =>
    socket.end(bytes);

const asked = {
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: 'Bearer key', accept: 'a/b' },
  body: '{"said":"Grüße 🌍"}',
};

/** The parts of a response that an SDK uses. */
async function seen(fetching: typeof fetch, url: string, init: RequestInit = asked) {
  try {
    const response = await fetching(url, init);
    const { status, ok, headers } = response;
    // `content-encoding` is not compared, because only one of the two functions keeps it after unpacking the body.
    const said = [...headers].filter(([name]) => !['date', 'content-encoding'].includes(name));
    const body = await response.text().catch(nameOf);
    return { status, ok, said, body };
  } catch (error) {
    return nameOf(error);
  }
}

const nameOf = (error: unknown): string => String(error);

const gzip = { 'content-encoding': 'gzip' };

test.each<[string, RequestListener]>([
  ['repeats the request', echo],
  ['has moved permanently', moved(308)],
  ['has moved temporarily', moved(307)],
  ['has moved its answer', moved(303)],
  ['has moved, as old servers do', moved(301)],
  ['redirects for ever', (_, response) => response.writeHead(307, { location: '/v1' }).end()],
  ['packs its answers', says(200, gzip, gzipSync('Packed.'))],
  ['packs its errors', says(429, gzip, gzipSync('Packed.'))],
  ['says nothing', says(204, {}, '')],
  ['refuses', says(400, { 'retry-after': '3' }, '{"error":"No."}')],
  [
    'has a header in UTF-8',
    raw('HTTP/1.1 200 OK\r\nx-name: Größe 🌍\r\ncontent-length: 2\r\n\r\nOk'),
  ],
  ['hangs up', ({ socket }) => socket.destroy()],
  [
    'disconnects during its answer',
    raw('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nOk\r\n'),
  ],
  ['sends less than its content-length', raw('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nOk')],
  ['does not speak HTTP', raw('Hello.\r\n\r\n')],
])('a server that %s gives the same result as with fetch', async (_case, listener) => {
  const url = await serve(listener);
  expect(await seen(fetchWithoutTimeout, url)).toEqual(await seen(fetch, url));
});

const MiB = 1024 * 1024;

test.each([
  ['a list', 200, 'GET', 4 * MiB],
  ['an error', 429, 'POST', MiB],
])('SAFE: %s is read up to a bound', async (_what, status, method, most) => {
  let size = most;
  const url = await serve((_, response) => response.writeHead(status).end(Buffer.alloc(size, 'x')));
  const read = async () => (await fetchWithoutTimeout(url, { method })).text();
  expect((await read()).length).toBe(most);
  size += 1;
  await expect(read()).rejects.toThrow(`The answer is larger than ${most} bytes.`);
});

test('an address with a password, or of a server that does not exist, gives an error', async () => {
  const nobody = `http://127.0.0.1:${await freePort()}`;
  await expect(fetchWithoutTimeout(nobody)).rejects.toMatchObject({
    message: 'fetch failed',
    cause: { code: 'ECONNREFUSED' },
  });
  await expect(fetchWithoutTimeout('http://me:secret@127.0.0.1/')).rejects.toThrow(
    'a user name or a password',
  );
});

test('if an answer is not read to its end, or is aborted, its connection ends', async () => {
  const waiting: ServerResponse[] = [];
  const url = await serve((_, response) => {
    waiting.push(response);
    response.write('Begun.');
  });
  const left = await fetchWithoutTimeout(url);
  const leaving = once(waiting[0]!, 'close');
  await left.body?.cancel();
  await leaving;
  const aborter = new AbortController();
  const { signal } = aborter;
  const read = await fetchWithoutTimeout(url, { signal });
  const unread = await fetchWithoutTimeout(url, { signal });
  const reading = read.text();
  const aborting = Promise.all(waiting.slice(1).map((one) => once(one, 'close')));
  const reason = new Error('Stopped.');
  aborter.abort(reason);
  await expect(reading).rejects.toBe(reason);
  await aborting;
  await expect(unread.text()).rejects.toBe(reason);
});

test.each([
  ['http://a.example/1', 'http://a.example/2', true],
  ['http://a.example/', 'https://a.example/', true],
  ['http://a.example:1/', 'https://a.example:2/', true],
  ['https://a.example/', 'http://a.example/', false],
  ['http://a.example/', 'https://b.example/', false],
  ['http://a.example/', 'http://b.example/', false],
  ['http://a.example:1/', 'http://a.example:2/', false],
])('from %s to %s is the same server: %s', (from, to, isSame) => {
  expect(isSameServer(new URL(from), new URL(to))).toBe(isSame);
});

test('SAFE: a redirect to another server is rejected, and that server gets nothing', async () => {
  let requests = 0;
  const other = await serve((_, response) => {
    requests += 1;
    response.end();
  });
  const location = other.replace('/v1/answers?version=1', '/internal');
  const url = await serve((_, response) => response.writeHead(307, { location }).end());
  const error: unknown = await fetchWithoutTimeout(url, asked).catch((one: unknown) => one);
  expect(error).toMatchObject({ message: 'fetch failed' });
  expect(ownRefusal(error)).toMatchObject({
    code: 'MODEL_UNAVAILABLE',
    message: `The server redirects to ${new URL(other).origin}, which is another server. If that is right, set it as the address ("baseUrl").`,
  });
  expect(requests).toBe(0);
});

test('only an own error in the causes of an error is an own refusal', () => {
  const own = new ModelError('MODEL_ERROR', 'No.');
  expect(ownRefusal(own)).toBe(own);
  expect(ownRefusal(new Error('a', { cause: new TypeError('b', { cause: own }) }))).toBe(own);
  expect(ownRefusal(new Error('a', { cause: new Error('b') }))).toBeUndefined();
  expect(ownRefusal('text')).toBeUndefined();
});

test.each(['http://me@127.0.0.1/', 'http://:secret@127.0.0.1/'])(
  'an address with only a part of a sign-in is rejected: %s',
  async (url) => {
    await expect(fetchWithoutTimeout(url)).rejects.toThrow('a user name or a password');
  },
);

test('only text can be sent', async () => {
  const body = new Uint8Array([1]);
  await expect(fetchWithoutTimeout('http://127.0.0.1/', { body })).rejects.toThrow(
    'Only text can be sent.',
  );
});

test('without further fields, a request is a GET that accepts packed answers', async () => {
  const url = await serve(({ method, headers }, response) =>
    response.end(`${method} ${headers['accept-encoding']}`),
  );
  expect(await (await fetchWithoutTimeout(url)).text()).toBe('GET gzip, deflate');
});

test('an answer may be larger than a list, and an error with status 400 may not', async () => {
  let status = 200;
  const json = { 'content-type': 'application/json' };
  const url = await serve((_, response) =>
    response.writeHead(status, json).end(Buffer.alloc(4 * MiB + 1, 'x')),
  );
  expect((await (await fetchWithoutTimeout(url, asked)).text()).length).toBe(4 * MiB + 1);
  status = 400;
  await expect((await fetchWithoutTimeout(url, asked)).text()).rejects.toThrow(
    `The answer is larger than ${MiB} bytes.`,
  );
});

test.each(['text/event-stream', undefined])(
  'an event is passed on when it is complete, if the content type is %s',
  async (type) => {
    const url = await serve((_, response) => {
      if (type !== undefined) response.setHeader('content-type', type);
      response.write('data: a\n\n');
    });
    const { body } = await fetchWithoutTimeout(url, asked);
    const first = await body?.getReader().read();
    expect(Buffer.from(first?.value ?? []).toString()).toBe('data: a\n\n');
  },
);

test('the pieces of a JSON answer are joined', async () => {
  const url = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
    response.write('[1,\n\n', () => response.end('2]'));
  });
  const { body } = await fetchWithoutTimeout(url, asked);
  const first = await body?.getReader().read();
  expect(Buffer.from(first?.value ?? []).toString()).toBe('[1,\n\n2]');
});
