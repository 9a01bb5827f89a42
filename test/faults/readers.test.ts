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

/**
 * How much memory one reader may cost: the buffer of its connection (1 MiB), and the message that filled this buffer.
 */
const eachMib = 2;
/** How much a server's memory varies from one flood to the next. */
const noiseMib = 96;
/**
 * How much memory in use all readers together may cost. Readers share the messages that wait, and only few messages
 * wait.
 */
const usedMib = 24;
/**
 * How many bytes a connection accepts before it is full: the system's buffers on both sides, and the server's own
 * buffer.
 */
const connectionMib = 7;
const sampleMs = 800;

const flood = `${length.flood.deltas} ${length.flood.rate}`;
/** Deltas are sent as fast as possible. */
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
 * A reader of one session. It collects the session's text, and the end of the turn. If the reader was disconnected, it
 * subscribes again with its cursor.
 */
class Follower {
  text = '';
  /** How many characters arrived as appends. */
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
    // The server disconnects a reader that has not answered pings for some time.
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

  /** Handles a new history: a reader that fell behind gets its whole turn again. */
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

// This test runs only in long runs. `packages/server/test/websocket.test.ts` always tests one reader that stops
// reading, without measurements.
testAtLength(
  'INV-9 if readers stop reading during a flood, they cost only a limited amount of memory, and later reach the same text',
  { timeout: 240_000 + 5 * length.flood.lastsMs },
  async () => {
    // Memory that is still in use after the first flood is not caused by readers.
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
    // The stalled readers got only a few appends, at most as many as their connection had buffered, and after that only
    // the newest state.
    const appended = stalled.map((reader) => reader.appended / 2 ** 20);
    expect(Math.max(...appended)).toBeLessThan(connectionMib);
    expect(healthy.appended / 2 ** 20).toBeGreaterThan(connectionMib);
    for (const reader of [healthy, ...stalled]) reader.leave();
  },
);

/** Plays a flood, and one reader that keeps reading receives it. */
async function playAlone(flood: string): Promise<void> {
  const sessionId = await connection.create('source', dataDir);
  const reader = await Follower.start(sessionId);
  await connection.post(`${sessionId}/send`, { message: flood });
  await reader.ended.promise;
  reader.leave();
}

/**
 * Runs `during`, and returns the largest resident memory and the largest memory in use that the server had during this
 * time, in MiB.
 */
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
