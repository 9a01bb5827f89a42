import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogger } from '@liminal/server';
import { bearer, startServer, type TestServer, token } from './harness.ts';
import { rawRequest } from './raw-request.ts';

const page = { accept: 'text/html' };
const linkOnce = 'a-link-that-opens-once';

let server: TestServer;
let log = '';
const get = (path: string, headers: Record<string, string> = page) =>
  rawRequest(server.port, { path, headers });

beforeAll(async () => {
  const logger = createLogger('trace', { write: (line) => (log += line) });
  server = await startServer({ logger, linkOnce });
});
afterAll(() => server.close());

describe('the printed link', () => {
  test('is traded for a cookie that scripts cannot read and other sites cannot send', async () => {
    const answer = await get(`/?token=${token}`);
    expect(answer.status).toBe(303);
    expect(answer.headers['cache-control']).toBe('no-store');
    const [cookie] = answer.headers['set-cookie']!;
    expect(cookie).toMatch(new RegExp(`^liminal_${server.port}=`));
    expect(cookie).toContain('HttpOnly');
    expect(cookie).toContain('SameSite=Strict');
    expect(cookie).toContain('Path=/');
  });

  test('leads to the same address without the token', async () => {
    const location = async (path: string) => (await get(path)).headers['location'];
    expect(await location(`/?token=${token}`)).toBe('/');
    expect(await location(`/session/a?x=1&token=${token}&y=2`)).toBe('/session/a?x=1&y=2');
  });

  test('never leads to another server', async () => {
    for (const path of ['//evil.example/', '/\\evil.example/', '///evil.example/']) {
      const { location } = (await get(`${path}?token=${token}`)).headers;
      expect(new URL(location as string, server.url).origin).toBe(server.url);
    }
  });

  test('that was followed from another site goes on by a page of ours, so that the cookie is sent', async () => {
    const answer = await get(`/a?token=${token}`, {
      ...page,
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
    });
    expect(answer.status).toBe(200);
    expect(answer.headers['set-cookie']).toHaveLength(1);
    expect(answer.text).toContain('<meta http-equiv="refresh" content="0; url=/a">');
  });

  test('that opens once opens once', async () => {
    const path = `/?token=${linkOnce}`;
    expect((await get(path)).status).toBe(303);
    expect((await get(path)).status).toBe(401);
    const asBearer = { authorization: `Bearer ${linkOnce}` };
    expect((await get('/api/agents', asBearer)).status).toBe(401);
  });
});

describe('the cookie', () => {
  test('lets its browser in, and is not the token', async () => {
    const [cookie] = (await get(`/?token=${token}`)).headers['set-cookie']!;
    const pair = cookie!.split(';')[0]!;
    expect((await get('/api/agents', { cookie: pair })).status).toBe(200);
    const value = pair.split('=')[1]!;
    expect(value).not.toContain(token);
    const asBearer = { authorization: `Bearer ${value}` };
    expect((await get('/api/agents', asBearer)).status).toBe(401);
  });

  test('of one server does not let into another one with another token', async () => {
    const [cookie] = (await get(`/?token=${token}`)).headers['set-cookie']!;
    const value = cookie!.split(';')[0]!.split('=')[1]!;
    const other = await startServer({ token: 'another-token' });
    const headers = { cookie: `liminal_${other.port}=${value}` };
    expect((await rawRequest(other.port, { path: '/api/agents', headers })).status).toBe(401);
    await other.close();
  });
});

test('every answer forbids foreign content, frames and sniffing', async () => {
  for (const path of ['/', '/api/agents', '/healthz', '/nothing']) {
    const { headers } = await get(path, { ...bearer, ...page });
    expect(headers['content-security-policy']).toContain("default-src 'self'");
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(headers['access-control-allow-origin']).toBeUndefined();
  }
});

test('the log tells of every request, and never of a secret', async () => {
  const [cookie] = (await get(`/?token=${token}`)).headers['set-cookie']!;
  const value = cookie!.split(';')[0]!.split('=')[1]!;
  await get('/api/agents', { cookie: `liminal_${server.port}=${value}` });
  await get('/api/agents?token=a-secret-query', bearer);
  expect(log).toContain('"path":"/api/agents"');
  for (const secret of [token, value, linkOnce, 'a-secret-query'])
    expect(log).not.toContain(secret);
});
