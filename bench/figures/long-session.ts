import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Connection } from '../parts/connection.ts';
import type { Figure } from '../parts/figure.ts';
import { median, repeat } from '../parts/figure.ts';
import { Measured } from '../parts/process.ts';

const script = fileURLToPath(new URL('../parts/source-server.ts', import.meta.url));
const TURNS = 100;
/** Each turn has 100 items of 40 deltas of 16 characters. */
const TURN = '40 0 100';
const TURN_BYTES = 40 * 16 * 100;

/** A session of 10,000 items in 100 turns, against itself when it was a tenth of that. */
export async function longSession(): Promise<Figure[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'liminal-bench-'));
  const server = await Measured.start(['--expose-gc', script, dataDir, '33']);
  const connection = new Connection(`http://127.0.0.1:${server.firstLine}`);
  try {
    const sessionId = await connection.create('source', dataDir);
    await repeat(TURNS / 10, async () => playTurn(connection, sessionId));
    const short = await measure(connection, sessionId, server, dataDir);
    await repeat(TURNS - TURNS / 10, async () => playTurn(connection, sessionId));
    const long = await measure(connection, sessionId, server, dataDir);
    return figures(short, long);
  } finally {
    await server.end();
    await rm(dataDir, { recursive: true });
  }
}

interface Measures {
  /** From sending to the first character of the answer, ms. */
  firstFrameMs: number;
  openMs: number;
  heapMiB: number;
  storeBytes: number;
}

async function measure(
  connection: Connection,
  sessionId: string,
  server: Measured,
  dataDir: string,
): Promise<Measures> {
  const frames = await repeat(5, async () => playTurn(connection, sessionId));
  const opens = await repeat(9, async () => {
    const start = performance.now();
    const socket = await connection.follow(sessionId, () => {});
    const elapsed = performance.now() - start;
    socket.close();
    return elapsed;
  });
  const files = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const sizes = files
    .filter((file) => file.isFile() && file.name.includes('liminal'))
    .map(async (file) => (await stat(join(file.parentPath, file.name))).size);
  return {
    firstFrameMs: median(frames),
    openMs: median(opens),
    heapMiB: await server.heapMiB(),
    storeBytes: (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0),
  };
}

/** Plays a turn to its end; gives the ms to the first character of the answer. */
async function playTurn(connection: Connection, sessionId: string): Promise<number> {
  const ended = Promise.withResolvers<void>();
  let firstAt = 0;
  const socket = await connection.follow(sessionId, (message) => {
    if (message.type === 'session:upsert') firstAt ||= performance.now();
    if (message.type === 'session:turn' && message.payload.type === 'turn_complete')
      ended.resolve();
  });
  const start = performance.now();
  await connection.post(`${sessionId}/send`, { message: TURN });
  await ended.promise;
  socket.close();
  return firstAt - start;
}

function figures(short: Measures, long: Measures): Figure[] {
  const text = (TURNS * TURN_BYTES) / 2 ** 20;
  const ratio = (name: string, a: number, b: number, unit: string, atMost: number): Figure => ({
    name: `10,000 items in 100 turns: ${name}, against a tenth of them`,
    value: b / a,
    unit: '×',
    bound: { atMost },
    detail: `${b.toFixed(1)} ${unit} against ${a.toFixed(1)} ${unit}`,
  });
  return [
    ratio('send to first frame', short.firstFrameMs, long.firstFrameMs, 'ms', 1.5),
    ratio('opening', short.openMs, long.openMs, 'ms', 1.5),
    ratio('store', short.storeBytes / 2 ** 20, long.storeBytes / 2 ** 20, 'MiB', 10),
    {
      name: '10,000 items in 100 turns: heap grown by, against a tenth of them',
      value: long.heapMiB - short.heapMiB,
      unit: 'MiB',
      bound: { atMost: text },
      detail: `after garbage collection; ${text.toFixed(1)} MiB of text, which is in the store`,
    },
  ];
}
