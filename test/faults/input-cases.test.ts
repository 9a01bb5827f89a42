import { once } from 'node:events';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { expectRefusal } from './input-law.ts';
import { InputStage } from './input-stage.ts';

let stage: InputStage;

beforeAll(async () => {
  stage = await InputStage.start();
});
afterEach(async () => stage.assertUnharmed());
afterAll(async () => stage.end());

const post = async (path: string, body: unknown) =>
  stage.ask({
    method: 'POST',
    path: `/api/session/${path}`,
    headers: stage.headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

describe('a malformed HTTP request is rejected with a code', () => {
  const command = (headers: string, body = '') =>
    `POST /api/session/x/send HTTP/1.1\r\n${headers}\r\n${body}`;
  const json = 'Content-Type: application/json\r\n';
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';

  test.each<[what: string, bytes: (own: string) => string | Uint8Array]>([
    ['headers without end', (own) => `GET / HTTP/1.1\r\n${own}X: ${'x'.repeat(100_000)}\r\n\r\n`],
    ['too many headers', (own) => `GET / HTTP/1.1\r\n${own}${'a: b\r\n'.repeat(3_000)}\r\n`],
    ['an address without end', (own) => `GET /${'x'.repeat(100_000)} HTTP/1.1\r\n${own}\r\n`],
    ['an unknown method', (own) => `FETCH /healthz HTTP/1.1\r\n${own}\r\n`],
    ['an invalid version', (own) => `GET / HTTP/9.9\r\n${own}\r\n`],
    ['NUL in a header', (own) => `GET / HTTP/1.1\r\n${own}X: a\0b\r\n\r\n`],
    ['no host', (own) => `GET /api/agents HTTP/1.1\r\n${own.replace(/Host: .*\r\n/, '')}\r\n`],
    ['two lengths', (own) => command(`${own}Content-Length: 2\r\nContent-Length: 3\r\n`, '{}}')],
    [
      'a length and chunks',
      (own) => command(`${own}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n`, '{}'),
    ],
    ['a negative length', (own) => command(`${own}Content-Length: -1\r\n`)],
    [
      'a chunk without a length',
      (own) => command(`${own}${json}Transfer-Encoding: chunked\r\n`, 'zz\r\n{}\r\n'),
    ],
    [
      'a chunk of an impossible length',
      (own) => command(`${own}${json}Transfer-Encoding: chunked\r\n`, `${'f'.repeat(20)}\r\n{}`),
    ],
    [
      'an unknown encoding',
      (own) => command(`${own}${json}Transfer-Encoding: gzip, identity\r\n`, '{}'),
    ],
    [
      'more bytes than announced',
      (own) => `${command(`${own}${json}Content-Length: 2\r\n`, '{}')}{"more": 1}\r\n\r\n`,
    ],
    [
      'an unknown expectation',
      (own) => command(`${own}Expect: the unexpected\r\nContent-Length: 0\r\n`),
    ],
    [
      'a WebSocket of another version',
      (own) => `GET /ws HTTP/1.1\r\n${own}${upgrade}Sec-WebSocket-Version: 1\r\n\r\n`,
    ],
    [
      'a WebSocket without a key',
      (own) => `GET /ws HTTP/1.1\r\n${own}${upgrade}Sec-WebSocket-Version: 13\r\n\r\n`,
    ],
    [
      'an upgrade to something else',
      (own) => `GET /ws HTTP/1.1\r\n${own}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`,
    ],
    ['the WebSocket’s address without an upgrade', (own) => `GET /ws HTTP/1.1\r\n${own}\r\n`],
    [
      'TLS',
      () => new Uint8Array([0x16, 3, 1, 0, 16, 1, 0, 0, 12, 3, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
    ],
    ['HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('%s is rejected', async (_, bytes) => {
    const { authorization } = stage.headers;
    const own = `Host: 127.0.0.1:${stage.port}\r\nAuthorization: ${authorization}\r\nConnection: close\r\n`;
    const answer = await sendRaw(bytes(own));
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    const [, status, head, text] =
      /^HTTP\/1\.1 (\d+) .*?\r\n(.*?)\r\n\r\n(.*)$/s.exec(answer) ?? [];
    const [, type] = /content-type: (.*?)\r\n/i.exec(`${head}\r\n`) ?? [];
    const body = /\{.*\}/s.exec(text ?? '')?.[0] ?? '';
    expectRefusal({
      status: Number(status),
      headers: { 'content-type': type },
      text: body,
      code: '',
    });
  });

  test('an interrupted body or a CONNECT request leaves no connection behind', async () => {
    const { authorization } = stage.headers;
    const own = `Host: 127.0.0.1:${stage.port}\r\nAuthorization: ${authorization}\r\n`;
    const half = command(`${own}${json}Content-Length: 100\r\n`, '{"message": "ha');
    expect(await sendRaw(half, 'end')).not.toMatch(/^HTTP\/1\.1 [235]/);
    expect(await sendRaw(half, 'reset')).toBe('');
    expect(await sendRaw('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n')).toBe('');
  });
});

/** Returns everything that the server sends until either side ends the connection. */
async function sendRaw(bytes: string | Uint8Array, then?: 'end' | 'reset'): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: stage.port });
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  socket.on('error', () => undefined);
  socket.write(bytes, () => {
    if (then === 'end') socket.end();
    if (then === 'reset') socket.resetAndDestroy();
  });
  // The server ends a connection on which it has rejected a request; otherwise the client ends the connection.
  socket.once('data', () => socket.end());
  await once(socket, 'close');
  return text;
}

describe('text is passed on unchanged', () => {
  const texts: [what: string, text: string][] = [
    ['NUL and other controls', 'a\0b\u0001\u001b[31m\u007f\r\n\t'],
    ['half a character', 'a\uD83D and \uDE00 b'],
    ['characters of many kinds', 'é 漢 😀 \u202Ertl\u2028\u2029\uFEFF\uFFFF'],
    [
      'text that looks like code',
      '{"__proto__": 1} </script><img src=x> ${1} %s \\u0000 \'; DROP TABLE items; --',
    ],
    ['text of the maximum length', 'x'.repeat(1_000_000)],
  ];

  test.each(texts)('%s is in the history exactly as it was sent', async (_, text) => {
    const sessionId = await stage.create();
    const turnId = await stage.play(sessionId, text);
    const { entries } = await stage.requests.history(sessionId);
    expect(entries[0]).toMatchObject({ type: 'message', origin: 'user', content: text, turnId });
  });

  test('a message that is too long is rejected, and no part of it is stored', async () => {
    const sessionId = await stage.create();
    const answer = await post(`${sessionId}/send`, { message: 'x'.repeat(1_000_001) });
    expectRefusal(answer);
    expect(answer).toMatchObject({ status: 400, code: 'INVALID_BODY' });
    expect((await stage.requests.history(sessionId)).entries).toEqual([]);
  });
});

test('a request with unknown fields is accepted, and the fields are ignored', async () => {
  const unknown = { unknown: { deep: [1] }, toString: 1, constructor: 2 };
  const made = await post('create', {
    cliType: 'demo',
    projectDir: stage.project,
    options: { configOptions: { pace: 'instant' }, unknown },
    ...unknown,
  });
  expect(made.status, made.text).toBe(201);
  const { sessionId } = JSON.parse(made.text) as { sessionId: string };
  const sent = await post(`${sessionId}/send`, { message: 'explain', ...unknown });
  expect(sent.status, sent.text).toBe(202);
  const titled = await post(`${sessionId}/title`, { title: 'Named', ...unknown });
  expect(titled).toMatchObject({ status: 200, text: '{}' });
});

describe('a session with invalid options is rejected', () => {
  test.each<[what: string, body: (project: string) => Record<string, unknown>, code: string]>([
    ['an unknown agent', () => ({ cliType: 'toString' }), 'UNSUPPORTED_CLI_TYPE'],
    [
      'an agent named like an inherited property',
      () => ({ cliType: '__proto__' }),
      'UNSUPPORTED_CLI_TYPE',
    ],
    ['a missing folder', (dir) => ({ projectDir: join(dir, 'none') }), 'PROJECT_DIR_NOT_FOUND'],
    ['a file', (dir) => ({ projectDir: join(dir, 'file') }), 'PROJECT_DIR_NOT_FOUND'],
    ['the parent folder', (dir) => ({ projectDir: `${dir}/..` }), 'PROJECT_DIR_NOT_ALLOWED'],
    [
      'a sibling folder whose name begins the same',
      (dir) => ({ projectDir: `${dir}-beside` }),
      'PROJECT_DIR_NOT_ALLOWED',
    ],
    ['a link to outside', (dir) => ({ projectDir: join(dir, 'out') }), 'PROJECT_DIR_NOT_ALLOWED'],
    ['a link to itself', (dir) => ({ projectDir: join(dir, 'loop') }), 'PROJECT_DIR_NOT_FOUND'],
    [
      'a folder with NUL in its name',
      (dir) => ({ projectDir: `${dir}/\0` }),
      'PROJECT_DIR_NOT_FOUND',
    ],
    [
      'a folder with a very long name',
      (dir) => ({ projectDir: `${dir}/${'x'.repeat(100_000)}` }),
      'PROJECT_DIR_NOT_FOUND',
    ],
    ['an address', () => ({ projectDir: 'file:///etc' }), 'PROJECT_DIR_NOT_ALLOWED'],
    [
      'a setting that the agent does not have',
      () => ({ options: { configOptions: { none: 'x' } } }),
      'INVALID_OPTION',
    ],
    [
      'a value that the setting does not have',
      () => ({ options: { configOptions: { pace: '__proto__' } } }),
      'INVALID_OPTION',
    ],
  ])('if the request contains %s', async (_, body, code) => {
    const before = await stage.requests.listProjects();
    const answer = await post('create', {
      cliType: 'demo',
      projectDir: stage.project,
      ...body(stage.project),
    });
    expectRefusal(answer);
    expect(answer.code).toBe(code);
    expect(await stage.requests.listProjects()).toEqual(before);
  });

  beforeAll(async () => {
    const { project } = stage;
    await mkdir(`${project}-beside`);
    await writeFile(join(project, 'file'), '');
    await symlink('/', join(project, 'out'));
    await symlink('loop', join(project, 'loop'));
  });
});
