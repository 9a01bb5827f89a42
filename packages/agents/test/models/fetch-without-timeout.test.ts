/** Compares `fetchWithoutTimeout` with the standard `fetch`. */
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { freePort } from '@liminal/testkit';
import { afterEach, expect, test } from 'vitest';
import { fetchWithoutTimeout } from '../../src/own/loop/fetch-without-timeout.ts';

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
