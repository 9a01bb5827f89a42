import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { createRequests } from '@liminal/client';
import { afterEach, beforeEach, expect, it } from 'vitest';

const hash = 'a'.repeat(64);
const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index % 251);
let taken: { path: string; type: string | undefined; token: string | undefined; body: Buffer };
const names = new Set<string | undefined>();

/** A server that stores one file and returns it. */
const server = createServer((request, response) => {
  names.add(request.headers['user-agent']);
  void buffer(request).then((body) => {
    const { 'content-type': type, authorization: token } = request.headers;
    const path = `${request.method} ${request.url}`;
    if (request.method === 'POST') {
      taken = { path, type, token, body };
      response.writeHead(201);
      return response.end(
        JSON.stringify({ uri: `blob:${hash}`, mimeType: type, size: body.length }),
      );
    }
    if (path === `GET /api/blob/${hash}`) {
      response.setHeader('content-type', taken.type ?? '');
      return response.end(taken.body);
    }
    response.writeHead(404);
    const error = { code: 'BLOB_NOT_FOUND', message: 'It is not stored.' };
    return response.end(JSON.stringify({ error }));
  });
});

const requests = () => {
  const { port } = server.address() as AddressInfo;
  return createRequests({ baseUrl: `http://127.0.0.1:${port}`, token: 'secret' });
};

beforeEach(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(() => {
  server.close();
  server.closeAllConnections();
});

it('a file is uploaded unchanged, with its type, and the server returns the same bytes', async () => {
  const file = new Blob([bytes], { type: 'image/png' });
  expect(await requests().putBlob(file)).toEqual({
    uri: `blob:${hash}`,
    mimeType: 'image/png',
    size: bytes.length,
  });
  expect(taken).toMatchObject({
    path: 'POST /api/blob',
    type: 'image/png',
    token: 'Bearer secret',
  });
  expect(taken.body.equals(bytes)).toBe(true);
  const given = await requests().getBlob(hash);
  expect(given.type).toBe('image/png');
  expect(Buffer.from(await given.arrayBuffer()).equals(bytes)).toBe(true);
});

it('a file without a type is sent with the given type, or, without one, as application/octet-stream', async () => {
  await requests().putBlob(new Blob([bytes]));
  expect(taken.type).toBe('application/octet-stream');
  await requests().putBlob(new Blob([bytes]), { mimeType: 'text/plain' });
  expect(taken.type).toBe('text/plain');
});

it('a missing file and an unavailable server cause different errors', async () => {
  const gone = requests().getBlob('b'.repeat(64));
  await expect(gone).rejects.toMatchObject({ code: 'BLOB_NOT_FOUND', status: 404 });
  const away = requests();
  server.close();
  server.closeAllConnections();
  await expect(away.getBlob(hash)).rejects.toMatchObject({ code: 'UNREACHABLE' });
  await expect(away.putBlob(new Blob([bytes]))).rejects.toMatchObject({ code: 'UNREACHABLE' });
});

it('SAFE: a program sends its own name with all requests, and the server uses the name to let programs take turns', async () => {
  names.clear();
  await requests().putBlob(new Blob([bytes], { type: 'image/png' }));
  await requests().getBlob(hash);
  expect([...names]).toEqual([expect.stringMatching(/^Liminal [\da-f-]{36}$/)]);
});
