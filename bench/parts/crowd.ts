/**
 * A program that runs many readers of one session in a process of its own: `node crowd.ts KIND PORT SESSION COUNT`,
 * where KIND is `websocket` or `sse`. The program prints `ready`, and at the end of each turn the results of all
 * readers except the reader that stopped reading: a JSON object of the type `Crowd`.
 */
import { randomBytes } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { percentile } from './figure.ts';
import { token } from './token.ts';

export interface Crowd {
  /** The median time from the source's write of a delta to a reader's receipt, in ms. */
  p50: number;
  p99: number;
  /** The number of deltas that all readers have received, without the reader that stopped reading. */
  seen: number;
}

const [kind = '', port = '', sessionId = '', size = '0'] = process.argv.slice(2);
const count = Number(size);
const headers = { authorization: `Bearer ${token}` };
let latencies: number[] = [];
let ended = 0;
const nowUs = (): number => Number(process.hrtime.bigint() / 1000n);

/**
 * Reads the times at the start of the deltas' texts (15 digits) and ignores all other text. The end of a message
 * repeats the whole text, and may arrive together with the last delta.
 */
function take(text: string): void {
  const now = nowUs();
  for (const [append] of text.matchAll(/session:append[^}]*/g)) {
    for (const [time] of append.matchAll(/\d{15}(?= )/g)) {
      latencies.push((now - Number(time)) / 1000);
    }
  }
  if (text.includes('turn_complete')) ended += 1;
  if (ended === count) finish();
}

function finish(): void {
  const crowd: Crowd = {
    p50: percentile(latencies, 50),
    p99: percentile(latencies, 99),
    seen: latencies.length,
  };
  console.log(JSON.stringify(crowd));
  latencies = [];
  ended = 0;
}

/** Opens the reader's connection; resolves when the reader has received the session's history. */
function watch(onText: (text: string) => void): Promise<{ pause: () => void }> {
  return kind === 'sse' ? watchStream(onText) : watchSocket(onText);
}

async function watchStream(onText: (text: string) => void): Promise<{ pause: () => void }> {
  const path = `/api/session/${sessionId}/stream?deltas=1`;
  const asked = request({ host: '127.0.0.1', port, path, headers, agent: false }).end();
  const { promise, resolve } = Promise.withResolvers<IncomingMessage>();
  asked.once('response', resolve);
  const response = await promise;
  const first = Promise.withResolvers<void>();
  response.setEncoding('utf8').on('data', (text: string) => {
    first.resolve();
    onText(text);
  });
  await first.promise;
  return { pause: () => void response.pause() };
}

/**
 * Connects a minimal WebSocket client. A library's client parses whole frames: a thousand of these clients would use
 * more processor time than the server.
 */
async function watchSocket(onText: (text: string) => void): Promise<{ pause: () => void }> {
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
  };
  const asked = request({
    host: '127.0.0.1',
    port,
    path: '/ws',
    headers: { ...headers, ...upgrade },
    agent: false,
  }).end();
  const upgraded = Promise.withResolvers<Socket>();
  asked.once('upgrade', (_, socket: Socket) => upgraded.resolve(socket));
  const socket = await upgraded.promise;
  const first = Promise.withResolvers<void>();
  socket.setEncoding('latin1').on('data', (text: string) => {
    first.resolve();
    onText(text);
  });
  socket.write(textFrame(JSON.stringify({ type: 'session:subscribe', sessionId, deltas: true })));
  await first.promise;
  return { pause: () => void socket.pause() };
}

/** Encodes a short text of a client as a WebSocket frame, masked with zeros (RFC 6455, section 5.2). */
function textFrame(text: string): Buffer {
  const header = [0x81, 0x80 | 126, 0, text.length, 0, 0, 0, 0];
  return Buffer.concat([Buffer.from(header), Buffer.from(text)]);
}

const stalled = await watch(() => {});
stalled.pause();
for (let opened = 0; opened < count; opened += 50) {
  const next = Array.from({ length: Math.min(50, count - opened) }, () => watch(take));
  await Promise.all(next);
}
console.log('ready');
