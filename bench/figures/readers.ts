import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPostgres, startRedis } from '@liminal/testkit';
import { Connection } from '../parts/connection.ts';
import type { Crowd } from '../parts/crowd.ts';
import type { Figure } from '../parts/figure.ts';
import { Measured } from '../parts/process.ts';

const part = (name: string): string => fileURLToPath(new URL(`../parts/${name}`, import.meta.url));

const readerCount = 1_000;
/** The number of deltas, and the number of deltas a second. */
const pacedTurn = { count: 500, rate: 50 };
const warmUp = { count: 100, rate: 50 };

/**
 * Measures two servers that share a Redis and a PostgreSQL: the session runs on one server, and its readers are
 * connected to the other server.
 */
export async function* readers(): AsyncGenerator<Figure> {
  const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
  const dataDir = await mkdtemp(join(tmpdir(), 'liminal-bench-'));
  const env = { ...process.env, BENCH_REDIS: redis.url, BENCH_DATABASE: postgres.url };
  const start = async () => Measured.start([part('source-server.ts'), dataDir, '33'], env);
  const servers = [await start(), await start()] as const;
  try {
    const [owner, other] = servers;
    for (const kind of ['websocket', 'sse'] as const) {
      yield* figuresOf(kind, await watched(kind, owner.firstLine, other.firstLine, dataDir));
    }
  } finally {
    await Promise.all(servers.map((server) => server.end()));
    await Promise.all([redis.stop(), postgres.stop()]);
    await rm(dataDir, { recursive: true });
  }
}

async function watched(
  kind: 'websocket' | 'sse',
  ownerPort: string,
  port: string,
  dataDir: string,
): Promise<Crowd> {
  const owner = new Connection(`http://127.0.0.1:${ownerPort}`);
  const sessionId = await owner.create('source', dataDir);
  const crowd = await Measured.start([
    part('crowd.ts'),
    kind,
    port,
    sessionId,
    String(readerCount),
  ]);
  const play = async ({ count, rate }: typeof pacedTurn): Promise<Crowd> => {
    await owner.post(`${sessionId}/send`, { message: `${count} ${rate}` });
    return JSON.parse(await crowd.nextLine()) as Crowd;
  };
  // The first turn only warms both servers up.
  await play(warmUp);
  const measured = await play(pacedTurn);
  await crowd.end();
  return measured;
}

function figuresOf(kind: string, { p50, p99, seen }: Crowd): Figure[] {
  const name = `${readerCount} ${kind} readers of one session of another server, ${pacedTurn.rate} deltas/s`;
  const detail = `source to reader, p50 ${p50.toFixed(0)} ms; one more reader has stopped reading`;
  return [
    { name: `${name}, p99`, value: p99, unit: 'ms', bound: { atMost: 120 }, detail },
    {
      name: `${name}: deltas given to each`,
      value: seen / readerCount,
      unit: '',
      bound: { atLeast: pacedTurn.count - 2 },
      detail: `of ${pacedTurn.count}; the first may be in the item’s first state`,
    },
  ];
}
