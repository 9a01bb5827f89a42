import { createConnection } from 'node:net';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { bearer, startServer, type TestServer } from './harness.ts';
import { rawRequest, upgradeHeaders } from './raw-request.ts';

const bodyBytes = 20_000;
const frameBytes = 5000;

let server: TestServer;
const ask = (request: Parameters<typeof rawRequest>[1]) => rawRequest(server.port, request);
const json = { 'content-type': 'application/json' };
const page = { accept: 'text/html' };
const own = () => `127.0.0.1:${server.port}`;

beforeAll(async () => {
  server = await startServer({ limits: { bodyBytes, frameBytes } });
});
afterAll(() => server.close());

describe('without a token', () => {
  test.each(['/api/agents', '/api/projects', '/metrics', '/openapi.json', '/api/nothing'])(
    'SAFE-1 %s is refused with 401 UNAUTHORIZED',
    async (path) => {
      expect(await ask({ path })).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
    },
  );

  test('SAFE-1 a command is refused and does nothing', async () => {
    const body = JSON.stringify({ cliType: 'scripted', projectDir: server.folder });
    const headers = { ...json, origin: `http://${own()}` };
    const answer = await ask({ method: 'POST', path: '/api/session/create', headers, body });
    expect(answer).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
    expect(await server.runtime.listSessions(server.folder)).toEqual([]);
  });

  test('SAFE-1 an upgrade is refused with 401', async () => {
    const headers = { ...upgradeHeaders, origin: `http://${own()}` };
    expect(await ask({ path: '/ws', headers })).toMatchObject({
      status: 401,
      code: 'UNAUTHORIZED',
    });
  });

  test('SAFE-1 a page is refused with 401 and explains how to sign in', async () => {
    const answer = await ask({ headers: page });
    expect(answer.status).toBe(401);
    expect(answer.headers['content-type']).toContain('text/html');
    expect(answer.text).toContain('Open the link from the terminal');
  });

  test.each([
    ['/healthz', { ok: true, version: '1.2.3' }],
    ['/readyz', { ok: true }],
  ])(
    '%s is answered, and the answer reveals nothing except the server’s state',
    async (path, told) => {
      const answer = await ask({ path });
      expect(answer.status).toBe(200);
      expect(JSON.parse(answer.text)).toEqual(told);
    },
  );
});

describe('with a wrong token', () => {
  test.each([
    ['another token', 'Bearer wrong'],
    ['no token', 'Bearer '],
    ['the start of the token', 'Bearer a-token-of-the-test'],
    ['another scheme', 'Basic YS10b2tlbi1vZi10aGUtdGVzdHM='],
    ['a very long token', `Bearer ${'x'.repeat(5000)}`],
  ])('SAFE-2 %s is refused with 401', async (_, authorization) => {
    const answer = await ask({ path: '/api/agents', headers: { authorization } });
    expect(answer).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
  });

  test('SAFE-2 opening a wrong link sets no cookie', async () => {
    const answer = await ask({ path: '/?token=wrong', headers: page });
    expect(answer.status).toBe(401);
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(answer.text).toContain('This link has expired');
  });

  test('SAFE-2 a wrong cookie is refused with 401', async () => {
    const cookie = `liminal_${server.port}=wrong`;
    expect((await ask({ path: '/api/agents', headers: { cookie } })).status).toBe(401);
  });

  test('SAFE-2 the API does not accept a token in the URL', async () => {
    const answer = await ask({ path: '/api/agents?token=a-token-of-the-tests' });
    expect(answer).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
  });

  test('SAFE-2 an upgrade with a wrong token is refused with 401', async () => {
    const headers = { ...upgradeHeaders, authorization: 'Bearer wrong' };
    expect(await ask({ path: '/ws', headers })).toMatchObject({ status: 403 });
    const fromPage = { ...headers, origin: `http://${own()}` };
    expect(await ask({ path: '/ws', headers: fromPage })).toMatchObject({ status: 401 });
  });
});

describe('a foreign Origin', () => {
  const foreign = ['https://evil.example', 'null', 'http://127.0.0.1:1', 'http://localhost'];

  test.each(foreign)(
    'SAFE-3 pages of %s may not send requests, even with the token',
    async (origin) => {
      const answer = await ask({ path: '/api/agents', headers: { ...bearer, origin } });
      expect(answer).toMatchObject({ status: 403, code: 'ORIGIN_NOT_ALLOWED' });
    },
  );

  test.each(foreign)('SAFE-3 pages of %s may not open a WebSocket', async (origin) => {
    const headers = { ...upgradeHeaders, ...bearer, origin };
    const answer = await ask({ path: '/ws', headers });
    expect(answer).toMatchObject({ status: 403, code: 'ORIGIN_NOT_ALLOWED' });
  });

  test.each(['cross-site', 'same-site'])(
    'SAFE-3 a fetch from a %s page without an Origin is refused',
    async (site) => {
      const headers = { ...bearer, 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors' };
      const answer = await ask({ path: '/api/agents', headers });
      expect(answer).toMatchObject({ status: 403, code: 'ORIGIN_NOT_ALLOWED' });
    },
  );

  test('SAFE-3 a command that has only a cookie, and no Origin, is refused', async () => {
    const { cookie, key } = await signIn();
    const command = { method: 'POST', path: '/api/session/none/cancel' };
    const answer = await ask({ ...command, headers: { cookie, 'x-liminal-key': key } });
    expect(answer).toMatchObject({ status: 403, code: 'ORIGIN_NOT_ALLOWED' });
    const fromPage = { cookie, 'x-liminal-key': key, origin: `http://${own()}` };
    expect(await ask({ ...command, headers: fromPage })).toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
  });

  test('an upgrade from our own page with its cookie is accepted', async () => {
    const { cookie, key } = await signIn();
    const protocols = { 'sec-websocket-protocol': `liminal, liminal.key.${key}` };
    const headers = { ...upgradeHeaders, ...protocols, cookie, origin: `http://${own()}` };
    expect((await ask({ path: '/ws', headers })).status).toBe(101);
  });

  test('an upgrade that a program requests with the token and without an Origin is accepted', async () => {
    expect((await ask({ path: '/ws', headers: { ...upgradeHeaders, ...bearer } })).status).toBe(
      101,
    );
  });

  test('pages of an origin that the configuration allows may send requests', async () => {
    const other = await startServer({ allowedOrigins: ['https://liminal.example'] });
    const headers = { ...bearer, origin: 'https://liminal.example' };
    expect((await rawRequest(other.port, { path: '/api/agents', headers })).status).toBe(200);
    await other.close();
  });
});

describe('a foreign Host', () => {
  const foreign = [
    'evil.example',
    'localhost:1',
    '127.0.0.1',
    'localhost.evil.example:80',
    'a@localhost',
  ];

  test.each(foreign)(
    'SAFE-4 a request to %s is refused with 403, even with the token',
    async (host) => {
      for (const path of ['/api/agents', '/healthz', '/']) {
        const answer = await ask({ path, headers: { ...bearer, host } });
        expect(answer).toMatchObject({ status: 403, code: 'HOST_NOT_ALLOWED' });
      }
    },
  );

  test.each(foreign)('SAFE-4 an upgrade to %s is refused with 403', async (host) => {
    const answer = await ask({ path: '/ws', headers: { ...upgradeHeaders, ...bearer, host } });
    expect(answer).toMatchObject({ status: 403, code: 'HOST_NOT_ALLOWED' });
  });

  test('SAFE-4 a host name that is not the server’s own is refused even if it leads to the server and the origin has the same name', async () => {
    const host = `evil.example:${server.port}`;
    const headers = { ...bearer, host, origin: `http://${host}` };
    expect((await ask({ path: '/api/agents', headers })).code).toBe('HOST_NOT_ALLOWED');
  });

  test('all loopback names are accepted', async () => {
    for (const name of ['localhost', '127.0.0.1', '[::1]', 'LOCALHOST']) {
      const headers = { ...bearer, host: `${name}:${server.port}` };
      expect((await ask({ path: '/api/agents', headers })).status).toBe(200);
    }
  });

  test('a host name that the configuration allows is accepted', async () => {
    const other = await startServer({ allowedHosts: ['liminal.example', 'tunnel:9000'] });
    const status = async (host: string) =>
      (await rawRequest(other.port, { path: '/api/agents', headers: { ...bearer, host } })).status;
    expect(await status('liminal.example')).toBe(200);
    expect(await status('tunnel:9000')).toBe(200);
    expect(await status('tunnel:9001')).toBe(403);
    await other.close();
  });

  test('if other machines can reach a host, the server refuses to start on it, unless the settings allow this explicitly', async () => {
    await expect(startServer({ host: '0.0.0.0' })).rejects.toMatchObject({ code: 'INSECURE_HOST' });
    const meant = await startServer({ host: '0.0.0.0', insecureHost: true });
    await meant.close();
  });
});

describe('a folder outside the roots', () => {
  const create = (projectDir: string) => {
    const body = JSON.stringify({ cliType: 'scripted', projectDir });
    const headers = { ...bearer, ...json };
    return ask({ method: 'POST', path: '/api/session/create', headers, body });
  };

  test('SAFE-5 a session in such a folder is refused with 403 PROJECT_DIR_NOT_ALLOWED', async () => {
    const refusal = { status: 403, code: 'PROJECT_DIR_NOT_ALLOWED' };
    expect(await create('/')).toMatchObject(refusal);
    expect(await create(join(server.folder, '..'))).toMatchObject(refusal);
  });

  test('SAFE-5 such a folder cannot be reached through a link inside the roots', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'liminal-outside-'));
    symlinkSync(outside, join(server.folder, 'link'));
    expect(await create(join(server.folder, 'link'))).toMatchObject({
      status: 403,
      code: 'PROJECT_DIR_NOT_ALLOWED',
    });
    rmSync(outside, { recursive: true });
  });

  test('SAFE-5 a missing folder is refused with 400 PROJECT_DIR_NOT_FOUND', async () => {
    const answer = await create(join(server.folder, 'nowhere'));
    expect(answer).toMatchObject({ status: 400, code: 'PROJECT_DIR_NOT_FOUND' });
  });

  test('SAFE-5 folders outside the roots are not listed', async () => {
    mkdirSync(join(server.folder, 'inside'), { recursive: true });
    const list = async (prefix: string) => {
      const path = `/api/folders?prefix=${encodeURIComponent(prefix)}`;
      const { text } = await ask({ path, headers: bearer });
      return (JSON.parse(text) as { folders: { path: string }[] }).folders.map(
        ({ path: each }) => each,
      );
    };
    expect(await list(`${server.folder}/in`)).toEqual([join(server.folder, 'inside')]);
    expect(await list('/etc')).toEqual([]);
  });
});

describe('broken requests', () => {
  const post = (body: string, headers: Record<string, string> = json) => {
    return ask({
      method: 'POST',
      path: '/api/session/create',
      headers: { ...bearer, ...headers },
      body,
    });
  };

  test.each(['{', 'undefined', '{"cliType":"scripted"', ''])(
    'SAFE-6 the body %j is refused with 400 INVALID_JSON',
    async (body) => {
      expect(await post(body)).toMatchObject({ status: 400, code: 'INVALID_JSON' });
    },
  );

  test('SAFE-6 a body with a wrong field is refused with 400 INVALID_BODY, and the error contains the field', async () => {
    const answer = await post(JSON.stringify({ cliType: 7, projectDir: '/x' }));
    expect(answer).toMatchObject({ status: 400, code: 'INVALID_BODY' });
    expect(answer.text).toContain('cliType');
    expect(await post('null')).toMatchObject({ status: 400, code: 'INVALID_BODY' });
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])(
    'SAFE-6 a body of type %s is refused with 415',
    async (type) => {
      const answer = await post('{}', { 'content-type': type });
      expect(answer).toMatchObject({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
    },
  );

  test('SAFE-6 an invalid path is refused with 400 INVALID_PATH', async () => {
    const answer = await ask({ path: '/api/session/%zz/status', headers: bearer });
    expect(answer).toMatchObject({ status: 400, code: 'INVALID_PATH' });
  });

  test('SAFE-6 an empty id in a path is refused with a sentence that contains the name of the id', async () => {
    const message = async (path: string) => JSON.parse((await ask({ path, headers: bearer })).text);
    expect(await message('/api/session//status')).toEqual({
      error: { code: 'INVALID_PATH', message: 'The path is not valid: the session id is empty.' },
    });
    expect(await message('/api/run/')).toEqual({
      error: { code: 'INVALID_PATH', message: 'The path is not valid: the run id is empty.' },
    });
  });

  test('SAFE-6 data that is not HTTP is refused with 400 and the connection ends', async () => {
    const socket = createConnection({ host: '127.0.0.1', port: server.port });
    socket.setEncoding('utf8');
    let text = '';
    socket.on('data', (chunk: string) => (text += chunk));
    socket.write('this is not HTTP\r\n\r\n');
    await once(socket, 'close');
    expect(text).toContain('HTTP/1.1 400');
    expect(text).toContain('INVALID_REQUEST');
  });

  test.each(['{', 'null', '[]', '{"type":"session:delete"}', '{"type":"session:subscribe"}'])(
    'SAFE-6 the frame %j is answered with INVALID_MESSAGE, and the socket stays open',
    async (frame) => {
      const socket = await openSocket();
      socket.send(frame);
      expect(await nextMessage(socket)).toMatchObject({
        type: 'session:error',
        code: 'INVALID_MESSAGE',
      });
      socket.send('{"type":"ping"}');
      expect(await nextMessage(socket)).toEqual({ type: 'pong' });
      socket.terminate();
    },
  );
});

describe('too large', () => {
  test('SAFE-7 a body over the limit is refused with 413 BODY_TOO_LARGE', async () => {
    const body = JSON.stringify({ message: 'x'.repeat(bodyBytes) });
    const headers = { ...bearer, ...json };
    const answer = await ask({ method: 'POST', path: '/api/session/a/send', headers, body });
    expect(answer).toMatchObject({ status: 413, code: 'BODY_TOO_LARGE' });
  });

  test('SAFE-7 a body over the limit is also cut off if its length was not sent', async () => {
    const headers = { ...bearer, ...json, 'transfer-encoding': 'chunked' };
    const body = `{"message":"${'x'.repeat(bodyBytes)}"}`;
    const answer = await ask({ method: 'POST', path: '/api/session/a/send', headers, body });
    expect(answer).toMatchObject({ status: 413, code: 'BODY_TOO_LARGE' });
  });

  test('SAFE-7 a frame over the limit ends its connection with 1009, and all other connections stay open', async () => {
    const other = await openSocket();
    const socket = await openSocket();
    socket.send('x'.repeat(frameBytes + 1));
    const [code] = (await once(socket, 'close')) as [number];
    expect(code).toBe(1009);
    other.send('{"type":"ping"}');
    expect(await nextMessage(other)).toEqual({ type: 'pong' });
    other.terminate();
  });
});

async function signIn(): Promise<{ cookie: string; key: string }> {
  const answer = await ask({ path: '/?token=a-token-of-the-tests', headers: page });
  const cookie = answer.headers['set-cookie']![0]!.split(';')[0]!;
  const [, key = ''] = /data-key="([^"]+)"/.exec(answer.text) ?? [];
  return { cookie, key };
}

async function openSocket(): Promise<WebSocket> {
  const socket = new WebSocket(`ws://${own()}/ws`, { headers: bearer });
  await once(socket, 'open');
  return socket;
}

async function nextMessage(socket: WebSocket): Promise<unknown> {
  const [data] = (await once(socket, 'message')) as [Buffer];
  return JSON.parse(data.toString());
}
