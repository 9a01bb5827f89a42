import {
  addedOf,
  type Figure,
  median,
  percentile,
  percentileOf,
  repeat,
  shareOf,
} from '../parts/figure.ts';
import { play } from '../parts/play.ts';
import { readAcpSource } from '../parts/acp-source.ts';
import { readSource } from '../parts/read-source.ts';

const floodSize = 300_000;

/** Resolves with the deltas a second of a program that only reads and parses the source. */
async function floor(): Promise<number> {
  let first = 0;
  let seen = 0;
  await readSource({ count: floodSize, rate: 0 }, () => {
    first ||= performance.now();
    seen += 1;
  });
  return (seen * 1000) / (performance.now() - first);
}

async function acpFloor(): Promise<number> {
  let first = 0;
  let seen = 0;
  await readAcpSource({ count: floodSize, rate: 0 }, () => {
    first ||= performance.now();
    seen += 1;
  });
  return (seen * 1000) / (performance.now() - first);
}

/**
 * Measures the deltas a second from the source through the translator and SQLite to a WebSocket client, as fast as
 * possible, compared with the floor in the same run.
 */
export async function* flatOut(): AsyncGenerator<Figure> {
  yield* compareFlatOut('pipeline flat out, share of the floor', 60, floor, 'source');
}

/** Measures the same as `flatOut`, but with a scripted ACP agent through the ACP provider. */
export async function* acpFlatOut(): AsyncGenerator<Figure> {
  yield* compareFlatOut('ACP flat out, share of the floor', 40, acpFloor, 'acp');
}

async function* compareFlatOut(
  name: string,
  atLeast: number,
  floorOf: () => Promise<number>,
  agent: 'source' | 'acp',
): AsyncGenerator<Figure> {
  const pairs = await repeat(3, async () => {
    const floor = await floorOf();
    const played = await play({ agent, count: floodSize, rate: 0, cadenceMs: 33 });
    return { floor, ours: (floodSize * 1000) / played.wallMs, played };
  });
  const rate = Math.round(median(pairs.map((pair) => pair.ours)));
  const floorRate = Math.round(median(pairs.map((pair) => pair.floor)));
  const cpu = median(pairs.map(({ played }) => (played.cpuMs * 1000) / floodSize));
  const lost = pairs.filter(({ played }) => !played.isWhole).length;
  const detail = `${rate} deltas/s of ${floorRate} read and parsed only; ${cpu.toFixed(1)} µs CPU a delta`;
  yield { name, ...shareOf(pairs, atLeast, 'deltas/s'), detail };
  yield {
    name: `${name}: runs with anything lost`,
    value: lost,
    unit: '',
    bound: { atMost: 0 },
    detail: `${floodSize} deltas, three runs`,
  };
}

/** Measures the time from the source's write to the client's receipt, at 200 deltas a second. */
export async function* latency(): AsyncGenerator<Figure> {
  for (const { cadenceMs, p50, p99 } of [
    { cadenceMs: 33, p50: 1, p99: 10 },
    { cadenceMs: 0, p50: 1, p99: 10 },
  ]) {
    const { latenciesMs } = await play({ count: 2_000, rate: 200, cadenceMs });
    const name = `200 deltas/s, cadence ${cadenceMs} ms`;
    const detail = 'source to client, 2,000 deltas';
    const figure = (p: number, atMost: number): Figure => ({
      name: `${name}, p${p}`,
      ...percentileOf(latenciesMs, p),
      unit: 'ms',
      bound: { atMost },
      detail,
    });
    yield figure(50, p50);
    yield figure(99, p99);
  }
}

/** Measures whether a long answer costs more bytes a token than a short answer. */
export async function* bytesPerToken(): AsyncGenerator<Figure> {
  const rate = 5_000;
  const short = await play({ count: 1_000, rate, cadenceMs: 33 });
  const long = await play({ count: 60_000, rate, cadenceMs: 33 });
  const [a, b] = [short.bytes / 1_000, long.bytes / 60_000];
  const detail = `${b.toFixed(1)} against ${a.toFixed(1)} bytes a token of 16`;
  yield {
    name: 'bytes a token, 60,000 against 1,000 tokens',
    value: b / a,
    unit: '×',
    bound: { atMost: 1.1 },
    detail,
  };
}

/**
 * Measures the time that Liminal adds between an ACP agent's write and the reader's receipt, at 200 chunks a second.
 */
export async function* acpLatency(): AsyncGenerator<Figure> {
  const flood = { count: 2_000, rate: 200 };
  const bare: number[] = [];
  await readAcpSource(flood, (text) => bare.push(microseconds() / 1000 - Number(text) / 1000));
  const { latenciesMs: ours } = await play({ agent: 'acp', ...flood, cadenceMs: 0 });
  const [a, b] = [percentile(bare, 50), percentile(ours, 50)];
  const detail = `${b.toFixed(2)} ms to the client against ${a.toFixed(2)} ms to a bare reader, 2,000 chunks`;
  const name = 'ACP at 200 chunks/s, cadence 0 ms, p50 added';
  yield { name, ...addedOf({ floor: bare, ours }, 50, 1), detail };
}

const microseconds = (): number => Number(process.hrtime.bigint() / 1000n);
