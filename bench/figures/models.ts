import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Flood, promptOf } from '../parts/acp-source.ts';
import { Connection } from '../parts/connection.ts';
import {
  addedOf,
  type Figure,
  median,
  percentile,
  percentileOf,
  repeat,
  shareOf,
} from '../parts/figure.ts';
import { OpenSession } from '../parts/pairs.ts';
import { play } from '../parts/play.ts';
import { Measured } from '../parts/process.ts';

const part = (name: string): string =>
  fileURLToPath(new URL(`../parts/${name}.ts`, import.meta.url));

const flood: Flood = { count: 200_000, rate: 0 };
const calls = 200;

/**
 * Compares two ways to read a scripted Responses server: through OpenAI's SDK, the translator and SQLite to a client,
 * and with a bare reader.
 */
export async function* models(): AsyncGenerator<Figure> {
  const source = await Measured.start([part('model-source')]);
  const baseUrl = `http://127.0.0.1:${source.firstLine}/v1`;
  try {
    yield await share(baseUrl);
    yield await added(baseUrl);
    yield await callCost(baseUrl);
  } finally {
    await source.end();
  }
}

async function share(baseUrl: string): Promise<Figure> {
  const pairs = await repeat(3, async () => {
    let first = 0;
    let seen = 0;
    await readBare(baseUrl, flood, () => {
      first ||= performance.now();
      seen += 1;
    });
    const floor = (seen * 1000) / (performance.now() - first);
    const env = { BENCH_MODEL: baseUrl };
    const played = await play({ agent: 'model', ...flood, cadenceMs: 33, env });
    if (!played.isWhole) throw new Error('The client did not receive the whole answer.');
    const cpu = (played.cpuMs * 1000) / flood.count;
    return { floor, ours: (flood.count * 1000) / played.wallMs, cpu };
  });
  const rates = pairs.map(({ ours }) => ours);
  const floor = Math.round(median(pairs.map((pair) => pair.floor)));
  const cpu = median(pairs.map((pair) => pair.cpu)).toFixed(1);
  const detail = `${Math.round(median(rates))} deltas/s of ${floor} read and parsed only; ${cpu} µs CPU a delta`;
  return {
    name: 'bare model flat out, share of the floor',
    ...shareOf(pairs, 50, 'deltas/s'),
    detail,
  };
}

async function added(baseUrl: string): Promise<Figure> {
  const paced = { count: 2_000, rate: 200 };
  const bare: number[] = [];
  await readBare(baseUrl, paced, (text) => {
    bare.push(Number(process.hrtime.bigint() / 1000n) / 1000 - Number(text) / 1000);
  });
  const env = { BENCH_MODEL: baseUrl };
  const { latenciesMs } = await play({ agent: 'model', ...paced, cadenceMs: 0, env });
  const [a, b] = [percentile(bare, 50), percentile(latenciesMs, 50)];
  const detail = `${b.toFixed(2)} ms to the client against ${a.toFixed(2)} ms to a bare reader, 2,000 deltas`;
  const name = 'bare model at 200 deltas/s, cadence 0 ms, p50 added';
  return { name, ...addedOf({ floor: bare, ours: latenciesMs }, 50, 2), detail };
}

/**
 * Measures the server's processor time for one call of a turn with many calls: for the answer, the tool, and the next
 * request.
 */
async function callCost(baseUrl: string): Promise<Figure> {
  const dataDir = await mkdtemp(join(tmpdir(), 'liminal-bench-'));
  await writeFile(join(dataDir, 'a.txt'), 'One line.\n');
  const env = { ...process.env, BENCH_MODEL: baseUrl };
  const server = await Measured.start([part('source-server'), dataDir, '33'], env);
  try {
    const connection = new Connection(`http://127.0.0.1:${server.firstLine}`);
    const turnOf = async (count: number): Promise<number> => {
      const session = await OpenSession.of(connection, await connection.create('model', dataDir));
      const before = server.cpuMs;
      await session.timeOfTurn(() => performance.now(), `calls ${count}`);
      session.close();
      return (server.cpuMs - before) / count;
    };
    // Warm the server up, so that it behaves as a server that has run for a while.
    for (let turn = 0; turn < 5; turn += 1) await turnOf(calls);
    const costs = await repeat(5, async () => turnOf(calls));
    const detail = `a turn of ${calls} calls of read, each in an answer of its own; median of 5 turns`;
    return {
      name: 'bare model: CPU a tool call',
      ...percentileOf(costs, 50),
      unit: 'ms',
      bound: { atMost: 2 },
      detail,
    };
  } finally {
    await server.end();
    await rm(dataDir, { recursive: true });
  }
}

/** Reads an answer directly from the model's server: parses each event and calls `onText` with its text. */
async function readBare(
  baseUrl: string,
  asked: Flood,
  onText: (text: string) => void,
): Promise<void> {
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const headers = { 'content-type': 'application/json' };
  const posted = request(`${baseUrl}/responses`, { method: 'POST', headers }, (response) => {
    let rest = '';
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      const events = (rest + chunk).split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) {
        const [, data = ''] = event.split('\ndata: ');
        const said = JSON.parse(data) as { type: string; delta?: string };
        if (said.type === 'response.output_text.delta') onText(said.delta ?? '');
      }
    });
    response.on('end', resolve);
    response.on('error', reject);
  });
  posted.on('error', reject);
  posted.end(JSON.stringify({ input: [{ role: 'user', content: promptOf(asked) }] }));
  await ended;
}
