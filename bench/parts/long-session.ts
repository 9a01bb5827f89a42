import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { Connection } from './connection.ts';
import { median, repeat } from './figure.ts';
import { Measured } from './process.ts';

const script = fileURLToPath(new URL('source-server.ts', import.meta.url));
/** The number of characters in one delta of the source; each character is one byte. */
const delta = 16;
/**
 * The number of turns that are played in another session before the measurement, so that the server's code is
 * optimised.
 */
const warmTurns = 5;
/** The smallest number of turns whose times are compared. */
const fewTurns = 5;
const openingCount = 9;

export interface LongSession {
  turns: number;
  itemsPerTurn: number;
  deltasPerItem: number;
}

/** The measurements of a session when it has reached some length. */
export interface Standing {
  /** The time from sending to the first character of the answer, in ms: the median of the turns so far. */
  firstFrameMs: number;
  /** The time from subscribing to receiving the newest page of history, in ms: the median of several measurements. */
  openMs: number;
  /** The server's CPU time for a turn (`turnCpuMs`) and for opening the session (`openCpuMs`), in ms. */
  turnCpuMs: number;
  openCpuMs: number;
  /** The memory that the server uses after garbage collection. */
  usedMiB: number;
  /** The size of the server's database after it was packed. */
  storeMiB: number;
  /** The size of all text that was sent to the server. */
  textMiB: number;
}

/** Plays all turns of a session; returns the measurements after the first tenth of the turns, and after the last. */
export async function leadLongSession(
  plan: LongSession,
): Promise<{ first: Standing; last: Standing }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'liminal-long-session-'));
  const server = await Measured.start(['--expose-gc', script, dataDir, '33']);
  try {
    return await lead(plan, dataDir, server);
  } finally {
    await server.end();
    await rm(dataDir, { recursive: true });
  }
}

async function lead(
  { turns, itemsPerTurn, deltasPerItem }: LongSession,
  dataDir: string,
  server: Measured,
): Promise<{ first: Standing; last: Standing }> {
  const connection = new Connection(`http://127.0.0.1:${server.firstLine}`);
  const message = `${deltasPerItem} 0 ${itemsPerTurn}`;
  const turnMiB = (itemsPerTurn * deltasPerItem * delta) / 2 ** 20;
  let played = 0;
  const play = async (sessionId: string, count: number): Promise<number[]> => {
    played += count;
    return repeat(count, async () => playTurn(connection, sessionId, message));
  };
  await play(await connection.create('source', dataDir), warmTurns);
  const sessionId = await connection.create('source', dataDir);
  const playAndMeasure = async (count: number): Promise<Standing> => {
    const begun = server.cpuMs;
    const firstFrames = await play(sessionId, count);
    const turned = server.cpuMs;
    const openings = await repeat(openingCount, async () => open(connection, sessionId));
    const opened = server.cpuMs;
    return {
      firstFrameMs: median(firstFrames),
      openMs: median(openings),
      turnCpuMs: (turned - begun) / count,
      openCpuMs: (opened - turned) / openingCount,
      usedMiB: await server.usedMiB(),
      storeMiB: await packedMiB(dataDir),
      textMiB: played * turnMiB,
    };
  };
  const few = Math.max(fewTurns, turns / 10);
  const first = await playAndMeasure(few);
  await play(sessionId, turns - 2 * few);
  return { first, last: await playAndMeasure(few) };
}

/** Plays a whole turn; returns the ms to the first character of the answer. */
async function playTurn(
  connection: Connection,
  sessionId: string,
  message: string,
): Promise<number> {
  const ended = Promise.withResolvers<void>();
  let firstAt = 0;
  const socket = await connection.follow(sessionId, (received) => {
    if (received.type === 'session:upsert') firstAt ||= performance.now();
    if (received.type === 'session:turn' && received.payload.type === 'turn_complete')
      ended.resolve();
  });
  const start = performance.now();
  await connection.post(`${sessionId}/send`, { message });
  await ended.promise;
  socket.close();
  return firstAt - start;
}

/** Opens a session as a reader; returns the ms until the newest page arrives. */
async function open(connection: Connection, sessionId: string): Promise<number> {
  const start = performance.now();
  const socket = await connection.follow(sessionId, () => {});
  const elapsed = performance.now() - start;
  socket.close();
  return elapsed;
}

/**
 * Returns the size of a packed copy of the database. The packed size still varies by up to 0.3 MiB, because the search
 * index merges at different times, and because space is reserved for the next events.
 */
export async function packedMiB(dataDir: string): Promise<number> {
  const copy = join(dataDir, 'packed.db');
  const store = new DatabaseSync(join(dataDir, 'liminal.db'), { readOnly: true, timeout: 5_000 });
  store.prepare('VACUUM INTO ?').run(copy);
  store.close();
  const packed = new DatabaseSync(copy);
  packed.exec("INSERT INTO item_words (item_words) VALUES ('optimize'); VACUUM;");
  packed.close();
  const { size } = await stat(copy);
  await rm(copy);
  return size / 2 ** 20;
}
