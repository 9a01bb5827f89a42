import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCredentials, createLogger } from '@liminal/server';
import { bearer, startServer, type TestServer, token } from './harness.ts';
import { rawRequest } from './raw-request.ts';

const page = { accept: 'text/html' };
const credentials = createCredentials(token);

let server: TestServer;
let log = '';
const get = (path: string, headers: Record<string, string> = page) =>
  rawRequest(server.port, { path, headers });

/** Returns the credentials of a browser that has opened a link. */
async function signIn(link = `/?token=${token}`) {
  const answer = await get(link);
  const [cookie = ''] = answer.headers['set-cookie'] ?? [];
  const [, key = ''] = /data-key="([^"]+)"/.exec(answer.text) ?? [];
  return { answer, cookie: cookie.split(';')[0] ?? '', key };
}

const withKey = ({ cookie, key }: { cookie: string; key: string }) => ({
  cookie,
  'x-liminal-key': key,
});

beforeAll(async () => {
  const logger = createLogger('trace', { write: (line) => (log += line) });
  server = await startServer({ logger, credentials });
});
afterAll(() => server.close());

describe('a link', () => {
  test('opening a link sets a cookie that scripts cannot read and that other sites cannot send', async () => {
    const { answer } = await signIn();
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    const [cookie] = answer.headers['set-cookie']!;
    expect(cookie).toMatch(new RegExp(`^liminal_${server.port}=`));
    expect(cookie).toContain('HttpOnly');
    expect(cookie).toContain('SameSite=Strict');
    expect(cookie).toContain('Path=/');
  });

  test('a link leads to the same address without the secret', async () => {
    const goesTo = async (path: string) =>
      /data-path="([^"]+)"/.exec((await get(path)).text)?.[1]?.replaceAll('&#38;', '&');
    expect(await goesTo(`/?token=${token}`)).toBe('/');
    expect(await goesTo(`/session/a?x=1&token=${token}&y=2`)).toBe('/session/a?x=1&y=2');
    expect(await goesTo(`/?code=${credentials.newCode()}&x=1`)).toBe('/?x=1');
  });

  test('a sign-in never redirects to another server', async () => {
    for (const path of ['//evil.example/', '/\\evil.example/', '///evil.example/']) {
      const { text } = await get(`${path}?token=${token}`);
      const [, goesTo = ''] = /data-path="([^"]+)"/.exec(text) ?? [];
      expect(new URL(goesTo, server.url).origin).toBe(server.url);
    }
  });

  test('if a link is opened from another site, the browser continues on one of our pages, so that it sends the cookie', async () => {
    const answer = await get(`/a?token=${token}`, {
      ...page,
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
    });
    expect(answer.status).toBe(200);
    expect(answer.headers['set-cookie']).toHaveLength(1);
    expect(answer.text).toContain('data-path="/a"');
  });

  test('SAFE: a link with a code signs in once, and after that reports that the code was used', async () => {
    const code = credentials.newCode();
    expect((await get(`/?code=${code}`)).status).toBe(200);
    const again = await get(`/?code=${code}`);
    expect(again.status).toBe(401);
    expect(again.text).toContain('This link has been used');
    expect((await get('/?code=made-up')).text).toContain('has expired');
    const asBearer = { authorization: `Bearer ${credentials.newCode()}` };
    expect((await get('/api/agents', asBearer)).status).toBe(401);
  });

  test('SAFE: a link for another browser is made only for signed-in clients', async () => {
    const origin = server.url;
    const ask = (headers: Record<string, string>) =>
      rawRequest(server.port, { method: 'POST', path: '/api/sign-in-link', headers });
    const { code } = JSON.parse((await ask(bearer)).text) as { code: string };
    const device = await signIn(`/?code=${code}`);
    expect(device.answer.status).toBe(200);
    expect((await ask({ ...withKey(device), origin })).status).toBe(200);
    expect((await ask({ cookie: device.cookie, origin })).status).toBe(401);
    expect((await ask({})).status).toBe(403);
  });
});

describe('a browser that is signed in', () => {
  test('the browser has a cookie and a key, and neither of them is the token', async () => {
    const device = await signIn();
    expect((await get('/api/agents', withKey(device))).status).toBe(200);
    const value = device.cookie.split('=')[1]!;
    for (const secret of [value, device.key]) {
      expect(secret).not.toContain(token);
      const asBearer = { authorization: `Bearer ${secret}` };
      expect((await get('/api/agents', asBearer)).status).toBe(401);
    }
  });

  test('SAFE: with only its cookie, the browser gets only pages that are the same for everyone', async () => {
    const { cookie } = await signIn();
    expect((await get('/', { ...page, cookie })).status).not.toBe(401);
    for (const path of ['/api/agents', '/api/projects', '/metrics', '/openapi.json', '/ws']) {
      expect((await get(path, { cookie })).status).toBe(401);
    }
    const upgrade = { connection: 'upgrade', upgrade: 'websocket', origin: server.url };
    const socket = {
      'sec-websocket-version': '13',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    };
    expect((await get('/ws', { ...upgrade, ...socket, cookie })).status).toBe(401);
  });

  test('SAFE: with another browser’s key, the browser gets nothing', async () => {
    const [one, other] = [await signIn(), await signIn()];
    expect(one.key).not.toBe(other.key);
    const mixed = { cookie: one.cookie, 'x-liminal-key': other.key };
    expect((await get('/api/agents', mixed)).status).toBe(401);
    expect((await get('/api/agents', { 'x-liminal-key': one.key })).status).toBe(401);
  });

  test('the browser can open a WebSocket with the key among the protocols', async () => {
    const { cookie, key } = await signIn();
    const upgrade = { connection: 'upgrade', upgrade: 'websocket', origin: server.url };
    const socket = {
      'sec-websocket-version': '13',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      'sec-websocket-protocol': `liminal, liminal.key.${key}`,
    };
    const answer = await get('/ws', { ...upgrade, ...socket, cookie });
    expect(answer.status).toBe(101);
    expect(answer.headers['sec-websocket-protocol']).toBe('liminal');
  });

  test('SAFE: the browser can be signed out, alone or together with all other browsers', async () => {
    const origin = server.url;
    const [one, other] = [await signIn(), await signIn()];
    const signOut = (headers: Record<string, string>, body = '{}') =>
      rawRequest(server.port, {
        method: 'POST',
        path: '/api/sign-out',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
      });
    const isIn = async (device: typeof one) =>
      (await get('/api/agents', withKey(device))).status === 200;
    const answer = await signOut({ ...withKey(one), origin });
    expect(answer.headers['set-cookie']?.[0]).toMatch(/=; .*(Max-Age=0|Expires=Thu, 01 Jan 1970)/);
    expect([await isIn(one), await isIn(other)]).toEqual([false, true]);
    await signOut(bearer, '{"everywhere":true}');
    expect(await isIn(other)).toBe(false);
    expect(await isIn(await signIn())).toBe(true);
  });

  test('a request without a body can sign out the browser', async () => {
    const device = await signIn();
    const headers = { ...withKey(device), origin: server.url };
    const signOut = { method: 'POST', path: '/api/sign-out', headers };
    expect((await rawRequest(server.port, signOut)).status).toBe(200);
    expect((await get('/api/agents', withKey(device))).status).toBe(401);
  });

  test('a server with another token does not accept the browser', async () => {
    const device = await signIn();
    const other = await startServer({ credentials: createCredentials('another-token') });
    const cookie = device.cookie.replace(String(server.port), String(other.port));
    const headers = { ...withKey(device), cookie };
    expect((await rawRequest(other.port, { path: '/api/agents', headers })).status).toBe(401);
    await other.close();
  });
});

test('every response forbids foreign content, frames and sniffing', async () => {
  for (const path of ['/', '/api/agents', '/healthz', '/nothing']) {
    const { headers } = await get(path, { ...bearer, ...page });
    expect(headers['content-security-policy']).toContain("default-src 'self'");
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(headers['access-control-allow-origin']).toBeUndefined();
  }
});

test('the log contains every request, and no secrets', async () => {
  const code = credentials.newCode();
  const device = await signIn(`/?code=${code}`);
  await get('/api/agents', withKey(device));
  await get('/api/agents?token=a-secret-query', bearer);
  expect(log).toContain('"path":"/api/agents"');
  const value = device.cookie.split('=')[1]!;
  for (const secret of [token, value, device.key, code, 'a-secret-query'])
    expect(log).not.toContain(secret);
});
