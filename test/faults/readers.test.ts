import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServerMessage } from '@liminal/protocol';
import type WebSocket from 'ws';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Connection } from '../../bench/parts/connection.ts';
import { Measured } from '../../bench/parts/process.ts';
import { length } from './length.ts';

const serverScript = fileURLToPath(new URL('../../bench/parts/source-server.ts', import.meta.url));

/** Readers that stop. */
const STALLED = 40;
/** What one may cost: its connection's buffer of 1 MiB and the message that filled it. */
const EACH_MIB = 2;
/** What a server's memory moves by from one flood to the next. */
const NOISE_MIB = 96;

let dataDir: string;
let server: Measured;
let connection: Connection;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'liminal-readers-'));
  server = await Measured.start([serverScript, dataDir, '5']);
  connection = new Connection(`http://127.0.0.1:${server.firstLine}`);
});
afterEach(async () => {
  await server.end();
  await rm(dataDir, { recursive: true, force: true });
});

/** A reader of one session: the text it holds, and the end of the turn. */
class Follower {
  text = '';
  appends = 0;
  readonly ended = Promise.withResolvers<void>();
  socket!: WebSocket;

  static async start(sessionId: string): Promise<Follower> {
    const follower = new Follower();
    follower.socket = await connection.follow(sessionId, (message) => follower.#take(message));
    return follower;
  }

  #take(message: ServerMessage): void {
    if (message.type === 'session:append') {
      if (message.at !== this.text.length) this.ended.reject(new Error('An append left a gap.'));
      this.text += message.text;
      this.appends += 1;
    }
    if (message.type === 'session:upsert' && message.payload.type === 'message') {
      this.text = message.payload.content;
    }
    if (message.type === 'session:turn' && message.payload.type === 'turn_complete') {
      this.ended.resolve();
    }
    if (message.type === 'session:history') this.#restart(message);
  }

  /** What a reader that had fallen behind is given: its turn whole. */
  #restart({ entries, turns }: Extract<ServerMessage, { type: 'session:history' }>): void {
    for (const entry of entries) if (entry.type === 'message') this.text = entry.content;
    if (turns.at(-1)?.status === 'complete') this.ended.resolve();
  }
}

const finalText = async (sessionId: string): Promise<string> => {
  const follower = await Follower.start(sessionId);
  follower.socket.close();
  return follower.text;
};

test(`INV-7 INV-9 ${length.readers} readers of one session all end with the same text`, async () => {
  const sessionId = await connection.create('source', dataDir);
  const readers = await Promise.all(
    Array.from({ length: length.readers }, async () => Follower.start(sessionId)),
  );
  await connection.post(`${sessionId}/send`, { message: '4000 4000' });
  await Promise.all(readers.map(async (reader) => reader.ended.promise));
  const text = await finalText(sessionId);
  expect(text.split(' ')).toHaveLength(4_001);
  expect(new Set(readers.map((reader) => reader.text))).toEqual(new Set([text]));
  for (const reader of readers) reader.socket.close();
});

test('INV-9 readers that stop reading under a flood cost a bounded amount of memory, and catch up to the same text', async () => {
  const flood = `${length.floodDeltas} 0`;
  await playAlone(flood);
  const before = await playAlone(flood);
  const sessionId = await connection.create('source', dataDir);
  const healthy = await Follower.start(sessionId);
  const stalled = await Promise.all(
    Array.from({ length: STALLED }, async () => Follower.start(sessionId)),
  );
  for (const reader of stalled) reader.socket.pause();
  await connection.post(`${sessionId}/send`, { message: flood });
  await healthy.ended.promise;
  expect(server.residentMiB - before).toBeLessThan(STALLED * EACH_MIB + NOISE_MIB);
  for (const reader of stalled) reader.socket.resume();
  await Promise.all(stalled.map(async (reader) => reader.ended.promise));
  expect(new Set(stalled.map((reader) => reader.text))).toEqual(new Set([healthy.text]));
  // Past what the connection itself took, they were given their newest state, and not what led to it.
  const most = Math.max(...stalled.map((reader) => reader.appends));

  expect(most).toBeLessThan(healthy.appends * 0.8);
  for (const reader of [healthy, ...stalled]) reader.socket.close();
});

/** Plays the flood with one healthy reader; gives the server's memory afterwards. */
async function playAlone(flood: string): Promise<number> {
  const sessionId = await connection.create('source', dataDir);
  const reader = await Follower.start(sessionId);
  await connection.post(`${sessionId}/send`, { message: flood });
  await reader.ended.promise;
  reader.socket.close();
  return server.residentMiB;
}
