import { once } from 'node:events';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import type { ServerMessage } from '@liminal/protocol';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type WebSocket from 'ws';
import { Connection } from '../../bench/parts/connection.ts';
import { upgradeHeaders } from '../../packages/server/test/raw-request.ts';
import { InputStage } from './input-stage.ts';
import { length, seed } from './length.ts';

let stage: InputStage;

beforeAll(async () => {
  stage = await InputStage.start();
});
afterAll(async () => stage.end());

interface Frame {
  data: string | Uint8Array;
  /** The code of the answer. Undefined if no answer is needed. */
  code: string | undefined;
}

const invalid = (data: Frame['data']): Frame => ({ data, code: 'INVALID_MESSAGE' });

const strangeName = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', '\0', '\uD800', '../..', ' ', 'x'.repeat(50_000)),
  fc.string({ unit: 'binary', minLength: 1 }),
);

const wrongField = fc
  .oneof(fc.jsonValue(), fc.constantFrom(1e308, -0))
  .filter((value) => typeof value !== 'string');

/** Generates invalid frames of every kind, and a few valid frames. */
const frames: fc.Arbitrary<Frame> = fc.oneof(
  fc
    .string({ unit: 'binary' })
    .filter((text) => !isJson(text))
    .map(invalid),
  fc.uint8Array({ maxLength: 200 }).map(invalid),
  fc.jsonValue().map((value) => invalid(JSON.stringify(value))),
  fc
    .constantFrom(
      '{"type":"ping"',
      '{"type":"ping"}}',
      '['.repeat(30_000),
      '1e999',
      '{"__proto__":{}}',
    )
    .map(invalid),
  strangeName.map((type) => invalid(JSON.stringify({ type, sessionId: 'x' }))),
  fc
    .tuple(fc.constantFrom('sessionId', 'cursor', 'deltas'), wrongField)
    .filter(([name, value]) => !(name === 'deltas' && typeof value === 'boolean'))
    .map(([name, value]) =>
      invalid(JSON.stringify({ type: 'session:subscribe', sessionId: 'x', [name]: value })),
    ),
  strangeName.map((sessionId) => ({
    data: JSON.stringify({ type: 'session:subscribe', sessionId, unknown: { field: [] } }),
    code: 'SESSION_NOT_FOUND',
  })),
  strangeName.map((sessionId) => ({
    data: JSON.stringify({ type: 'session:unsubscribe', sessionId }),
    code: undefined,
  })),
);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const open = async (): Promise<WebSocket> =>
  new Connection(stage.server.origin, stage.server.token).open();

/**
 * Sends frames, and then a ping. Returns the codes of the answers that arrive before the pong, and the codes of later
 * messages.
 */
async function play(socket: WebSocket, sent: readonly Frame[]): Promise<string[]> {
  const codes: string[] = [];
  const expected = sent.filter(({ code }) => code !== undefined).length;
  const done = Promise.withResolvers<void>();
  let ponged = false;
  socket.on('close', (code) => done.reject(new Error(`The connection was closed with ${code}.`)));
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as ServerMessage;
    if (message.type === 'session:error') codes.push(message.code);
    ponged ||= message.type === 'pong';
    if (ponged && codes.length >= expected) done.resolve();
  });
  for (const { data } of sent) socket.send(data);
  socket.send('{"type":"ping"}');
  await done.promise;
  socket.removeAllListeners('close').removeAllListeners('message');
  return codes;
}

test('every invalid message is answered with a code, and the connection stays open', async () => {
  const socket = await open();
  await fc.assert(
    fc.asyncProperty(fc.array(frames, { maxLength: 10 }), async (sent) => {
      const codes = await play(socket, sent);
      expect(codes.toSorted()).toEqual(sent.flatMap(({ code }) => code ?? []).toSorted());
      // A subscription to an unknown session counts toward the limit until it is cancelled.
      for (const { data } of sent.filter(({ code }) => code === 'SESSION_NOT_FOUND')) {
        socket.send(String(data).replace('session:subscribe', 'session:unsubscribe'));
      }
    }),
    { numRuns: length.requests / 4, seed },
  );
  socket.terminate();
  await stage.assertUnharmed();
}, 600_000);

test('a message may arrive in several fragments, with other frames between the fragments', async () => {
  const socket = await open();
  socket.send('{"ty', { fin: false });
  socket.ping('still here');
  socket.send('pe":"pi', { fin: false });
  socket.send('ng"}', { fin: true });
  const [[answer]] = await Promise.all([once(socket, 'message'), once(socket, 'pong')]);
  expect(JSON.parse(String(answer))).toEqual({ type: 'pong' });
  socket.terminate();
});

describe('a frame that breaks the rules of WebSockets ends only that connection', () => {
  const mask = [1, 2, 3, 4];
  const masked = (text: string) => [...Buffer.from(text)].map((byte, at) => byte ^ ((at % 4) + 1));
  const big = (bytes: number) => [
    0xff,
    ...[...new Uint8Array(8)].map((_, at) => Math.floor(bytes / 256 ** (7 - at)) % 256),
  ];

  test.each<[what: string, bytes: number[], code: number]>([
    ['an unmasked frame', [0x81, 0x02, 0x7b, 0x7d], 1002],
    ['an unknown kind of frame', [0x83, 0x80, ...mask], 1002],
    ['reserved bits without an extension', [0xf1, 0x80, ...mask], 1002],
    ['a fragmented ping', [0x09, 0x80, ...mask], 1002],
    ['a ping that is too long', [0x89, 0xfe, 0x01, 0x00, ...mask], 1002],
    ['a continuation without a message', [0x80, 0x80, ...mask], 1002],
    ['a new message inside a fragmented message', [0x01, 0x80, ...mask, 0x81, 0x80, ...mask], 1002],
    ['a close with half a code', [0x88, 0x81, ...mask, 0x03], 1002],
    ['a text that is not UTF-8', [0x81, 0x82, ...mask, 0xc3 ^ 1, 0x28 ^ 2], 1007],
    ['a frame with a huge length', [0x81, ...big(2 ** 40), ...mask], 1009],
    ['a frame whose length exceeds any safe number', [0x81, ...big(2 ** 62), ...mask], 1009],
    [
      'fragments that are too large together',
      Array.from({ length: 5 }, (_, at) => [
        at === 0 ? 0x01 : 0x00,
        0xfe,
        0x40,
        0x00,
        ...mask,
        ...new Uint8Array(16_384),
      ]).flat(),
      1009,
    ],
  ])('%s', async (_, bytes, code) => {
    const other = await open();
    const socket = await openRaw();
    socket.write(Buffer.from(bytes));
    expect(await closeCode(socket)).toBe(code);
    expect(await play(other, [])).toEqual([]);
    other.terminate();
  });

  test('if a connection ends in the middle of a frame or between frames, only this connection ends', async () => {
    const other = await open();
    for (const bytes of [[], [0x81], [0x81, 0xfe, 0x10], [0x81, 0x84, ...mask, ...masked('{')]]) {
      const [ended, reset] = [await openRaw(), await openRaw()];
      ended.end(Buffer.from(bytes));
      reset.write(Buffer.from(bytes), () => reset.resetAndDestroy());
      await Promise.all([once(ended, 'close'), once(reset, 'close')]);
    }
    expect(await play(other, [])).toEqual([]);
    other.terminate();
    await stage.assertUnharmed();
  });

  function openRaw(): Promise<Socket> {
    const headers = { ...upgradeHeaders, authorization: stage.headers['authorization'] ?? '' };
    return new Promise((resolve, reject) => {
      request({ host: '127.0.0.1', port: stage.port, path: '/ws', headers })
        .on('upgrade', (_, socket) => resolve(socket))
        .on('error', reject)
        .end();
    });
  }

  /** Resolves with the code in the server's close frame, after the server has ended the connection. */
  async function closeCode(socket: Socket): Promise<number | undefined> {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined);
    await once(socket, 'close');
    const all = Buffer.concat(chunks);
    const at = all.lastIndexOf(0x88);
    return at < 0 ? undefined : all.readUInt16BE(at + 2);
  }
});
