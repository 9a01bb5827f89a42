/**
 * Generates bytes that are nearly HTTP: odd lines, headers, lengths and addresses. The bytes may be pipelined, split or
 * cut off.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { expect } from 'vitest';
import { expectNamed, type FuzzStage } from './stage.ts';

interface RawRequest {
  method: string;
  target: string;
  version: string;
  headers: [name: string, value: string][];
  framing: string;
  body: string;
  lineEnd: string;
}

interface RawConnection {
  requests: RawRequest[];
  /** Which part of the text is sent, in thousandths. */
  cut: number;
  /** How many bytes are sent at a time. With 0, all bytes are sent at once. */
  piece: number;
  ending: 'wait' | 'end' | 'reset';
}

const method = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('TRACE', 'PROPFIND', 'QUERY', 'PATCH', 'M-SEARCH', 'LINK', 'ACL'),
  },
  { weight: 1, arbitrary: fc.constantFrom('CONNECT', 'FETCH', 'get', 'PRI', 'G ET', '', '\0') },
);

const place = fc.constantFrom(
  '/',
  '/index.html',
  '/healthz',
  '/api/agents',
  '/api/projects',
  '/api/session/<session 0>/history',
  '/api/session/<session 1>/send',
  '/api/session/<session 0>/title',
  '/api/blob',
  '/acp?agent=demo',
  '/ws',
  '/metrics',
  '/openapi.json',
);

const odd = fc.constantFrom(
  (path: string) => path,
  (path: string) => `http://<host 0>${path}`,
  (path: string) => `http://127.0.0.1:1${path}`,
  (path: string) => `http://evil.example${path}`,
  (path: string) => `ftp://x:y@[::1]${path}`,
  (path: string) => `/${path}`,
  (path: string) => `${path};x=1`,
  (path: string) => path.replaceAll(/[a-z]/g, (one) => `%${one.charCodeAt(0).toString(16)}`),
  (path: string) => path.replaceAll('/', '%2f'),
  (path: string) => path.replaceAll('/', '/./'),
  (path: string) => `/x/..${path}`,
  (path: string) => `/%2e%2e${path}`,
  (path: string) => `${path}%00`,
  (path: string) => `${path}%`,
  (path: string) => `${path}?a[]=1&a[]=2&__proto__=x&%ff=%zz`,
  (path: string) => `${path}#part`,
  (path: string) => `${path}?${'a=1&'.repeat(3_000)}`,
  (path: string) => `${path}/${'x/'.repeat(5_000)}`,
  (path: string) => path.replaceAll('/', '\\'),
  (path: string) => `${path}\u00e9\u0080`,
  () => '*',
  () => '127.0.0.1:80',
  () => '',
);
const target = fc.oneof(
  { weight: 3, arbitrary: place },
  { weight: 4, arbitrary: fc.tuple(odd, place).map(([change, path]) => change(path)) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
);

const header = fc.oneof(
  fc.constantFrom<[string, string]>(
    ['Host', 'evil.example'],
    ['Host', '127.0.0.1'],
    ['Authorization', 'Bearer x'],
    ['Content-Type', 'application/json'],
    ['Content-Type', 'application/json; charset="'],
    ['Content-Encoding', 'gzip'],
    ['Expect', '100-continue'],
    ['Expect', 'x'],
    ['Connection', 'keep-alive, Upgrade'],
    ['Connection', 'close, keep-alive'],
    ['Upgrade', 'websocket'],
    ['Upgrade', 'acp-lines'],
    ['Upgrade', 'h2c, websocket'],
    ['Sec-WebSocket-Version', '13'],
    ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
    ['Sec-WebSocket-Extensions', 'permessage-deflate; client_max_window_bits=99'],
    ['Sec-WebSocket-Protocol', 'liminal, liminal.key.x'],
    ['Origin', 'null'],
    ['Cookie', `${'a=b; '.repeat(500)}__proto__=x; =; ;`],
    ['Range', 'bytes=5-1,-0,99999999999999999999-'],
    ['If-None-Match', '*, "", W/'],
    ['If-Modified-Since', 'yesterday'],
    ['Accept', `${'a/b;q=0.1,'.repeat(500)}text/event-stream`],
    ['Accept-Encoding', 'br;q=x, gzip;q=-1, *'],
    ['Last-Event-ID', '\u00ff:9999999999999999'],
    ['traceparent', '00-ffffffffffffffffffffffffffffffff-0000000000000000-zz'],
    ['Acp-Connection-Id', 'x'],
    ['Trailer', 'Content-Length'],
    ['TE', 'trailers'],
    ['X-Forwarded-For', '::1, 127.0.0.1'],
    ['Content-Length', '0'],
    ['Transfer-Encoding', 'chunked'],
    [' Folded', 'x\r\n y'],
    ['X Y', 'z'],
    ['', 'x'],
    ['X', 'a\0b'],
  ),
  fc.nat({ max: 30_000 }).map((size): [string, string] => ['X-Long', 'x'.repeat(size)]),
);

const body = fc.constantFrom(
  '',
  '{}',
  '{"message":"explain"}',
  '{"title":"a"}',
  '{"a":',
  '\0\u00ff',
  'x'.repeat(70_000),
  '0\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n',
);

const chunks = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
/** The headers that contain a body's length, and the body as it is sent. */
const framings: Record<string, (text: string) => [head: string, body: string]> = {
  none: () => ['', ''],
  length: (text) => [`Content-Length: ${text.length}\r\n`, text],
  'too short': (text) => [`Content-Length: ${Math.max(0, text.length - 3)}\r\n`, text],
  'too long': (text) => [`Content-Length: ${text.length + 5}\r\n`, text],
  'two lengths': (text) => [`Content-Length: ${text.length}\r\nContent-Length: 1\r\n`, text],
  'the same length twice': (text) => [`Content-Length: ${text.length}, ${text.length}\r\n`, text],
  'a huge length': (text) => ['Content-Length: 99999999999999999999\r\n', text],
  'a length with a sign': (text) => [`Content-Length: +${text.length}\r\n`, text],
  chunked: (text) => ['Transfer-Encoding: chunked\r\n', `${chunks(text)}0\r\n\r\n`],
  'chunks with extensions': (text) => [
    'Transfer-Encoding: chunked\r\n',
    `${text.length.toString(16)};a="b";${'c'.repeat(20_000)}\r\n${text}\r\n0\r\n\r\n`,
  ],
  'chunks with trailers': (text) => [
    'Transfer-Encoding: chunked\r\nTrailer: X\r\n',
    `${chunks(text)}0\r\nX: y\r\nContent-Length: 5\r\nAuthorization: Bearer x\r\n\r\n`,
  ],
  'chunks without end': (text) => ['Transfer-Encoding: chunked\r\n', chunks(text)],
  'a negative chunk': (text) => ['Transfer-Encoding: chunked\r\n', `-1\r\n${text}\r\n0\r\n\r\n`],
  'chunks and a length': (text) => [
    `Content-Length: ${text.length}\r\nTransfer-Encoding: chunked\r\n`,
    `${chunks(text)}0\r\n\r\n`,
  ],
  'chunked twice': (text) => [
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n',
    `${chunks(text)}0\r\n\r\n`,
  ],
};

const rawRequest: fc.Arbitrary<RawRequest> = fc.record(
  {
    method,
    target,
    version: fc.oneof(
      { weight: 8, arbitrary: fc.constant('HTTP/1.1') },
      { weight: 1, arbitrary: fc.constantFrom('HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'http/1.1', '') },
    ),
    headers: fc.array(header, { maxLength: 4 }),
    framing: fc.constantFrom(...Object.keys(framings)),
    body,
    lineEnd: fc.oneof(
      { weight: 12, arbitrary: fc.constant('\r\n') },
      { weight: 1, arbitrary: fc.constantFrom('\n', '\r', '\r\r\n') },
    ),
  },
  { noNullPrototype: true },
);

export const rawConnections: fc.Arbitrary<RawConnection[]> = fc.array(
  fc.record(
    {
      requests: fc.array(rawRequest, { minLength: 1, maxLength: 4 }),
      cut: fc.oneof(
        { weight: 3, arbitrary: fc.constant(1_000) },
        { weight: 1, arbitrary: fc.nat({ max: 1_000 }) },
      ),
      piece: fc.constantFrom(0, 0, 1, 7, 500),
      ending: fc.constantFrom('wait' as const, 'wait' as const, 'end' as const, 'reset' as const),
    },
    { noNullPrototype: true },
  ),
  { minLength: 1, maxLength: 3 },
);

export async function playRaw(all: readonly RawConnection[], stage: FuzzStage): Promise<void> {
  await Promise.all(all.map((one) => playConnection(one, stage)));
}

async function playConnection(input: RawConnection, stage: FuzzStage): Promise<void> {
  const own = `Host: 127.0.0.1:${stage.port}\r\nAuthorization: Bearer ${stage.token}\r\n`;
  const text = input.requests.map((one) => textOf(one, own)).join('');
  const filled = await stage.fill(text, (one) => one);
  const bytes = Buffer.from(filled, 'latin1').subarray(
    0,
    Math.ceil((filled.length * input.cut) / 1_000),
  );
  stage.note(`${input.ending}: ${bytes.toString('latin1')}`);
  expectNamedAnswers(await speak(bytes, input, stage.port));
}

function textOf({ method: verb, target: to, version, ...request }: RawRequest, own: string) {
  const [length, sent] = framings[request.framing]?.(request.body) ?? ['', ''];
  const named = request.headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const head = `${verb} ${to} ${version}\r\n${own}${named}${length}\r\n`;
  return head.replaceAll('\r\n', request.lineEnd) + sent;
}

/** How long a connection may be silent before the client ends it, in ms. */
const silenceMs = 100;
/** How many bytes are sent in small parts. All bytes after them are sent at once. */
const piecesMax = 2_000;

/** Returns everything that the server sends until either side has closed the connection. */
async function speak(bytes: Buffer, input: RawConnection, port: number): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true, noDelay: true });
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  let answer = '';
  let isSilent = false;
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    answer += chunk;
    isSilent = false;
  });
  // This happens if the server has ended its side.
  socket.once('end', () => socket.end());
  await once(socket, 'connect');
  const { piece, ending } = input;
  for (let at = 0; piece > 0 && at < Math.min(bytes.length, piecesMax); at += piece) {
    socket.write(bytes.subarray(at, Math.min(at + piece, piecesMax)));
    if (at % (piece * 50) === 0) await delay(1);
  }
  const rest = piece > 0 ? bytes.subarray(piecesMax) : bytes;
  if (socket.writable) await new Promise((resolve) => socket.write(rest, resolve));
  if (ending === 'reset') socket.resetAndDestroy();
  if (ending === 'end') socket.end();
  while (!socket.closed) {
    // Streams and incomplete requests do not end by themselves.
    if (isSilent) socket.destroy();
    isSilent = true;
    await Promise.race([closed, delay(silenceMs)]);
  }
  return answer;
}

/** Checks that each answer on a connection has a code of the refusals table. */
function expectNamedAnswers(said: string): void {
  for (const answer of said.split(/(?=HTTP\/1\.1 \d{3} )/)) {
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? 0);
    if (status < 500) continue;
    const [, json = answer] = /(\{"error":.*\})/s.exec(answer) ?? [];
    expectNamed(status, json);
  }
  if (said !== '') expect(said).toMatch(/^HTTP\/1\.1 \d{3} /);
}
