import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearer, startServer, type TestServer } from './harness.ts';
import { rawRequest } from './raw-request.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const ask = (url: string, headers: Record<string, string> = bearer) =>
  rawRequest(server.port, { path: `/api/image-frame?url=${encodeURIComponent(url)}`, headers });

test('for an image from the web, the server sends a frame that can show only this image', async () => {
  const { status, headers, text } = await ask('https://example.com/a.png?b=1&c="><script>');
  expect(status).toBe(200);
  expect(text).toContain('src="https://example.com/a.png?b=1&#38;c=&#34;&#62;&#60;script&#62;"');
  expect(text).toContain('referrerpolicy="no-referrer"');
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'x-frame-options': 'SAMEORIGIN',
    'cache-control': 'no-store',
  });
  const policy = String(headers['content-security-policy']).split('; ');
  expect(policy).toEqual([
    "default-src 'none'",
    'img-src https:',
    "style-src 'unsafe-inline'",
    "frame-ancestors 'self'",
    'sandbox',
  ]);
});

test.each(['', 'http://example.com/a.png', 'javascript:alert(1)', 'data:image/png,x', 'a.png'])(
  'for an image at %j, the server sends no frame',
  async (url) => {
    expect(await ask(url)).toMatchObject({ status: 400, code: 'INVALID_QUERY' });
  },
);

test('the frame needs a sign-in, and the app itself shows no image from other sites', async () => {
  expect(await ask('https://example.com/a.png', {})).toMatchObject({ status: 401 });
  const { headers } = await rawRequest(server.port, { path: '/api/agents', headers: bearer });
  expect(headers['content-security-policy']).toContain("img-src 'self' data: blob:;");
  expect(headers['x-frame-options']).toBe('DENY');
});
