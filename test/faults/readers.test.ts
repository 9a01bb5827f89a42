import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ServerMessage } from '@liminal/protocol';
import { testAtLength } from '@liminal/testkit/at-length';
import type WebSocket from 'ws';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Connection } from '../../bench/parts/connection.ts';
import { Measured } from '../../bench/parts/process.ts';
import { length } from './length.ts';

const serverScript = fileURLToPath(new URL('../../bench/parts/source-server.ts', import.meta.url));

/** The memory that one reader may cost: its connection's buffer of 1 MiB and the message that filled it. */
const eachMib = 2;
/** The variation of a server's memory from one flood to the next. */
const noiseMib = 96;
/** The memory in use that all readers together may cost: waiting messages are shared, and few. */
const usedMib = 24;
/** The bytes that a connection takes before it is full: the system's buffers on both sides, and the server's own. */
const connectionMib = 7;
const sampleMs = 800;

const flood = `${length.flood.deltas} ${length.flood.rate}`;
/** As fast as possible. */
const warming = '200000 0';

let dataDir: string;
let server: Measured;
let connection: Connection;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'liminal-readers-'));
  server = await Measured.start(['--expose-gc', serverScript, dataDir, '5']);
  connection = new Connection(`http://127.0.0.1:${server.firstLine}`);
});
afterEach(async () => {
  await server.end();
  await rm(dataDir, { recursive: true, force: true });
});

/**
 * A reader of one session: its text, and the end of the turn. If it was disconnected, the reader subscribes again
 * with its cursor.
 */
class Follower {
  text = '';
  /** The number of characters that came as appends. */
  appended = 0;
  readonly ended = Promise.withResolvers<void>();
  readonly #sessionId: string;
  #cursor: string | undefined;
  #socket!: WebSocket;
  #left = false;

  private constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  static async start(sessionId: string): Promise<Follower> {
    const follower = new Follower(sessionId);
    await follower.#connect();
    return follower;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  leave(): void {
    this.#left = true;
    this.#socket.close();
  }

  async #connect(): Promise<void> {
    const take = (message: ServerMessage): void => this.#take(message);
    this.#socket = await connection.follow(this.#sessionId, take, this.#cursor);
    // The server disconnects a reader that answers no ping for a while.
    this.#socket.on('error', () => undefined);
    this.#socket.once('close', () => {
      if (!this.#left) this.#connect().catch(this.ended.reject);
    });
  }

  #take(message: ServerMessage): void {
    if ('cursor' in message) this.#cursor = message.cursor;
    if (message.type === 'session:append') {
      if (message.at !== this.text.length) this.ended.reject(new Error('An append left a gap.'));
      this.text += message.text;
      this.appended += message.text.length;
    }
    if (message.type === 'session:upsert' && message.payload.type === 'message') {
      this.text = message.payload.content;
    }
    if (message.type === 'session:turn' && message.payload.type === 'turn_complete') {
      this.ended.resolve();
    }
    if (message.type === 'session:history') this.#restart(message);
  }

  /** Handles a new history: a reader that fell behind gets its turn completely. */
  #restart({ entries, turns }: Extract<ServerMessage, { type: 'session:history' }>): void {
    for (const entry of entries) if (entry.type === 'message') this.text = entry.content;
    if (turns.at(-1)?.status === 'complete') this.ended.resolve();
  }
}

const finalText = async (sessionId: string): Promise<string> => {
  const follower = await Follower.start(sessionId);
  follower.leave();
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
  for (const reader of readers) reader.leave();
});

// Only in long runs: `packages/server/test/websocket.test.ts` always tests one reader that stops reading, without
// measurements.
testAtLength(
  'INV-9 readers that stop reading under a flood cost a bounded amount of memory, and catch up to the same text',
  { timeout: 240_000 + 5 * length.flood.lastsMs },
  async () => {
    // Memory that the first flood leaves in use is not caused by readers.
    await playAlone(warming);
    const alone = await mostMemory(playAlone(flood));
    const sessionId = await connection.create('source', dataDir);
    const healthy = await Follower.start(sessionId);
    const stalled = await Promise.all(
      Array.from({ length: length.stalled }, async () => Follower.start(sessionId)),
    );
    for (const reader of stalled) reader.pause();
    const begun = performance.now();
    await connection.post(`${sessionId}/send`, { message: flood });
    const most = await mostMemory(healthy.ended.promise);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(length.flood.lastsMs);
    const cost = most.resident - alone.resident;
    expect(cost).toBeLessThan(length.stalled * eachMib + noiseMib);
    expect(most.used - alone.used).toBeLessThan(usedMib);
    for (const reader of stalled) reader.resume();
    await Promise.all(stalled.map(async (reader) => reader.ended.promise));
    expect(new Set(stalled.map((reader) => reader.text))).toEqual(new Set([healthy.text]));
    // The stalled readers got few appends, not more than their connection had buffered, and then only the newest state.
    const appended = stalled.map((reader) => reader.appended / 2 ** 20);
    expect(Math.max(...appended)).toBeLessThan(connectionMib);
    expect(healthy.appended / 2 ** 20).toBeGreaterThan(connectionMib);
    for (const reader of [healthy, ...stalled]) reader.leave();
  },
);

/** Plays a flood to one healthy reader. */
async function playAlone(flood: string): Promise<void> {
  const sessionId = await connection.create('source', dataDir);
  const reader = await Follower.start(sessionId);
  await connection.post(`${sessionId}/send`, { message: flood });
  await reader.ended.promise;
  reader.leave();
}

/** The most memory, resident and in use, that any sample of the server showed while `during` ran, in MiB. */
async function mostMemory(during: Promise<void>): Promise<{ resident: number; used: number }> {
  let isOver = false;
  const most = { resident: 0, used: 0 };
  const over = during.then(() => (isOver = true));
  while (!isOver) {
    most.resident = Math.max(most.resident, server.residentMiB);
    const used = await server.usedMiB();
    // Writing a turn's end does not depend on its readers.
    if (!isOver) most.used = Math.max(most.used, used);
    await Promise.race([over, setTimeout(sampleMs)]);
  }
  return most;
}
