import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearer, startServer, type TestServer } from './harness.ts';
import { rawRequest } from './raw-request.ts';

let server: TestServer;
const get = (path: string, accept = 'text/html') =>
  rawRequest(server.port, { path, headers: { ...bearer, accept } });

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

test('a server without a built web app says what to do, and heals by itself', async () => {
  const answer = await get('/');
  expect(answer.status).toBe(503);
  expect(answer.text).toContain('npm start');

  const webDir = join(server.folder, 'web');
  mkdirSync(join(webDir, 'assets'), { recursive: true });
  writeFileSync(join(webDir, 'index.html'), '<title>The app</title>');
  writeFileSync(join(webDir, 'assets/app-a1b2c3.js'), 'export {};');
  writeFileSync(join(webDir, '.sources'), 'hidden');

  const index = await get('/');
  expect(index.status).toBe(200);
  expect(index.text).toContain('The app');
  expect(index.headers['cache-control']).toBe('no-cache');

  const asset = await get('/assets/app-a1b2c3.js', '*/*');
  expect(asset.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  expect(asset.headers['content-type']).toContain('javascript');

  expect((await get('/session/some-id')).text).toContain('The app');
  for (const path of ['/assets', '/assets/', '/assets/gone.js'])
    expect(await get(path, '*/*')).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  expect((await get('/.sources', '*/*')).status).toBe(404);
  rmSync(webDir, { recursive: true });
});

test.each(['/../../../etc/passwd', '/..%2f..%2f..%2fetc%2fpasswd', '/%2e%2e/%2e%2e/etc/passwd'])(
  'no address leads out of the web app’s folder: %s',
  async (path) => {
    const answer = await get(path, '*/*');
    expect(answer.status).toBe(404);
    expect(answer.text).not.toContain('root:');
  },
);

test('an address of the API that is not there is a refusal, not a page', async () => {
  expect(await get('/api/nothing')).toMatchObject({ status: 404, code: 'NOT_FOUND' });
});
