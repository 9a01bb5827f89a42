import { createHash } from 'node:crypto';
import { blobMax } from '@liminal/protocol';
import { fastify } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sendBlob } from '../src/http/blob-routes.ts';
import { bearer, startServer, type TestServer } from './harness.ts';
import { rawRequest } from './raw-request.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => server.close());

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function put(body: Uint8Array<ArrayBuffer> | string, type?: string) {
  const headers = { ...bearer, ...(type && { 'content-type': type }) };
  const init = { method: 'POST', body, headers };
  const answer = await fetch(`${server.url}/api/blob`, init);
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const get = async (hash: string) => fetch(`${server.url}/api/blob/${hash}`, { headers: bearer });

test.each(['image/p\u0001ng', 'image/png\r\nx-evil: 1', 'type', '', 'image/pñg'])(
  'SAFE: if a stored type is invalid in a header (%j), the blob is sent as bytes',
  async (mimeType) => {
    const app = fastify();
    app.get('/', (_request, reply) => sendBlob(reply, { bytes: png, mimeType }));
    const { statusCode, headers } = await app.inject('/');
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment',
    });
    await app.close();
  },
);

describe('an uploaded file', () => {
  test.each([
    ['an image', png, 'image/png', 'image/png', null],
    ['JSON', Buffer.from('{"a":1}'), 'application/json', 'application/json', 'attachment'],
    [
      'a page',
      Buffer.from('<script>alert(1)</script>'),
      'text/html; charset=utf-8',
      'text/html',
      'attachment',
    ],
    [
      'an SVG with a script',
      Buffer.from('<svg onload="alert(1)"/>'),
      'image/svg+xml',
      'image/svg+xml',
      'attachment',
    ],
    [
      'bytes without a type',
      Buffer.from([0, 1, 2, 255]),
      undefined,
      'application/octet-stream',
      'attachment',
    ],
    [
      'text without a type',
      Buffer.from('Hällo'),
      'application/octet-stream',
      'text/plain',
      'attachment',
    ],
    ['an image without a type', png, 'application/octet-stream', 'image/png', null],
  ])(
    '%s is returned byte for byte, and a browser cannot run it',
    async (_, bytes, type, kept, disposition) => {
      const hash = hashOf(bytes);
      const { status, body } = await put(new Uint8Array(bytes), type);
      expect([status, body]).toEqual([
        201,
        { uri: `blob:${hash}`, mimeType: expect.any(String) as string, size: bytes.length },
      ]);
      const answer = await get(hash);
      expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
      expect(answer.headers.get('content-type')).toMatch(
        kept === 'image/png' ? /^image\/png$/ : new RegExp(`^${kept.replace('+', '\\+')}`),
      );
      expect(answer.headers.get('content-disposition')).toBe(disposition);
      expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('cache-control')).toBe('private, max-age=31536000, immutable');
      expect(answer.headers.get('cross-origin-resource-policy')).toBe('same-origin');
    },
  );

  test('an uploaded file of exactly the largest size is accepted, and a file with one more byte is rejected', async () => {
    const largest = new Uint8Array(blobMax);
    expect((await put(largest, 'application/zip')).status).toBe(201);
    const { status, body } = await put(new Uint8Array(blobMax + 1), 'application/zip');
    expect([status, body]).toMatchObject([413, { error: { code: 'BODY_TOO_LARGE' } }]);
  });
});

describe('a rejected upload or download gets a sentence that says what to do', () => {
  test('for a file that has the type of an image but other content', async () => {
    const { status, body } = await put('no image', 'image/png');
    expect([status, body]).toMatchObject([415, { error: { code: 'BLOB_TYPE_WRONG' } }]);
  });

  test('for an invalid content type', async () => {
    const { status, body } = await put('x', 'nonsense');
    expect([status, body]).toMatchObject([415, { error: { code: 'UNSUPPORTED_MEDIA_TYPE' } }]);
    expect(JSON.stringify(body)).toContain('a file with its own content type');
  });

  test('for an empty body', async () => {
    const answer = await fetch(`${server.url}/api/blob`, { method: 'POST', headers: bearer });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code: 'INVALID_BODY' } });
  });

  test('for a request without the token', async () => {
    const asked = (method: string, path: string) => rawRequest(server.port, { method, path });
    expect(await asked('POST', '/api/blob')).toMatchObject({ status: 403 });
    expect(await asked('GET', `/api/blob/${hashOf(png)}`)).toMatchObject({ status: 401 });
  });

  test.each(['0'.repeat(64), 'short', '../../etc/passwd', 'x'.repeat(5000), '%00'])(
    'for the unknown hash %s',
    async (hash) => {
      const answer = await get(encodeURIComponent(hash));
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(500);
      expect(await answer.json()).toMatchObject({ error: { code: expect.any(String) as string } });
    },
  );
});
