import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Connection } from './connection.ts';
import { median, repeat } from './figure.ts';
import { Measured } from './process.ts';

const script = fileURLToPath(new URL('source-server.ts', import.meta.url));
/** Characters of one delta of the source, each of one byte. */
const DELTA = 16;
/** Turns of another session before anything is measured: by then the server's code is as fast as it gets. */
const WARM_TURNS = 5;
/** Turns at the least whose times are compared. */
const FEW_TURNS = 5;
const OPENINGS = 9;

export interface LongSession {
  turns: number;
  itemsPerTurn: number;
  deltasPerItem: number;
}

/** How a session stands. */
export interface Standing {
  /** From sending to the first character of the answer: the median of the turns that led here, ms. */
  firstFrameMs: number;
  /** From subscribing to the newest page of history: the median of several, ms. */
  openMs: number;
  /** CPU time of the server for one of those turns, and for one of those openings, ms. */
  turnCpuMs: number;
  openCpuMs: number;
  /** Memory that the server uses when its garbage has been collected. */
  usedMiB: number;
  /** All files that the server keeps its data in. */
  storeMiB: number;
  /** All that has been said to the server so far. */
  textMiB: number;
}

/** Leads a session through all its turns; gives how it stood after the first few of them (a tenth), and after the last. */
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
  const turnMiB = (itemsPerTurn * deltasPerItem * DELTA) / 2 ** 20;
  let played = 0;
  const play = async (sessionId: string, count: number): Promise<number[]> => {
    played += count;
    return repeat(count, async () => playTurn(connection, sessionId, message));
  };
  await play(await connection.create('source', dataDir), WARM_TURNS);
  const sessionId = await connection.create('source', dataDir);
  const playAndMeasure = async (count: number): Promise<Standing> => {
    const begun = server.cpuMs;
    const firstFrames = await play(sessionId, count);
    const turned = server.cpuMs;
    const openings = await repeat(OPENINGS, async () => open(connection, sessionId));
    const opened = server.cpuMs;
    return {
      firstFrameMs: median(firstFrames),
      openMs: median(openings),
      turnCpuMs: (turned - begun) / count,
      openCpuMs: (opened - turned) / OPENINGS,
      usedMiB: await server.usedMiB(),
      storeMiB: await storeMiB(dataDir),
      textMiB: played * turnMiB,
    };
  };
  const few = Math.max(FEW_TURNS, turns / 10);
  const first = await playAndMeasure(few);
  await play(sessionId, turns - 2 * few);
  return { first, last: await playAndMeasure(few) };
}

/** Plays a turn to its end; gives the ms to the first character of the answer. */
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

/** Opens a session as a reader does; gives the ms to its newest page. */
async function open(connection: Connection, sessionId: string): Promise<number> {
  const start = performance.now();
  const socket = await connection.follow(sessionId, () => {});
  const elapsed = performance.now() - start;
  socket.close();
  return elapsed;
}

async function storeMiB(dataDir: string): Promise<number> {
  const files = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const sizes = files
    .filter((file) => file.isFile() && file.name.includes('liminal'))
    .map(async (file) => (await stat(join(file.parentPath, file.name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) / 2 ** 20;
}
