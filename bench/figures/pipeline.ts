import type { Figure } from '../parts/figure.ts';
import { median, percentile, repeat } from '../parts/figure.ts';
import { play } from '../parts/play.ts';
import { readAcpSource } from '../parts/acp-source.ts';
import { readSource } from '../parts/read-source.ts';

const FLOOD = 300_000;

/** Deltas a second of the source read and parsed, and nothing else. */
async function floor(): Promise<number> {
  let first = 0;
  let seen = 0;
  await readSource({ count: FLOOD, rate: 0 }, () => {
    first ||= performance.now();
    seen += 1;
  });
  return (seen * 1000) / (performance.now() - first);
}

async function acpFloor(): Promise<number> {
  let first = 0;
  let seen = 0;
  await readAcpSource({ count: FLOOD, rate: 0 }, () => {
    first ||= performance.now();
    seen += 1;
  });
  return (seen * 1000) / (performance.now() - first);
}

/** Flat out: source → translator → SQLite → WebSocket client, against the floor in the same run. */
export async function flatOut(): Promise<Figure[]> {
  return compareFlatOut('pipeline flat out, share of the floor', 50, floor, 'source');
}

/** The same from a scripted ACP agent, through the ACP provider. */
export async function acpFlatOut(): Promise<Figure[]> {
  return compareFlatOut('ACP flat out, share of the floor', 40, acpFloor, 'acp');
}

async function compareFlatOut(
  name: string,
  atLeast: number,
  floorOf: () => Promise<number>,
  agent: 'source' | 'acp',
): Promise<Figure[]> {
  const pairs = await repeat(3, async () => {
    const floorRate = await floorOf();
    const played = await play({ agent, count: FLOOD, rate: 0, cadenceMs: 33 });
    return { floorRate, rate: (FLOOD * 1000) / played.wallMs, played };
  });
  const share = median(pairs.map((pair) => (pair.rate / pair.floorRate) * 100));
  const rate = Math.round(median(pairs.map((pair) => pair.rate)));
  const floorRate = Math.round(median(pairs.map((pair) => pair.floorRate)));
  const cpu = median(pairs.map(({ played }) => (played.cpuMs * 1000) / FLOOD));
  const lost = pairs.filter(({ played }) => !played.isWhole).length;
  const detail = `${rate} deltas/s of ${floorRate} read and parsed only; ${cpu.toFixed(1)} µs CPU a delta`;
  return [
    { name, value: share, unit: '%', bound: { atLeast }, detail },
    {
      name: `${name}: runs with anything lost`,
      value: lost,
      unit: '',
      bound: { atMost: 0 },
      detail: `${FLOOD} deltas, three runs`,
    },
  ];
}

/** From the source's writing to the client's having it, at 200 deltas a second. */
export async function latency(): Promise<Figure[]> {
  const figures = [];
  for (const { cadenceMs, p50, p99 } of [
    { cadenceMs: 33, p50: 20, p99: 50 },
    { cadenceMs: 0, p50: 1, p99: 10 },
  ]) {
    const { latenciesMs } = await play({ count: 2_000, rate: 200, cadenceMs });
    const name = `200 deltas/s, cadence ${cadenceMs} ms`;
    const detail = 'source to client, 2,000 deltas';
    figures.push(
      {
        name: `${name}, p50`,
        value: percentile(latenciesMs, 50),
        unit: 'ms',
        bound: { atMost: p50 },
        detail,
      },
      {
        name: `${name}, p99`,
        value: percentile(latenciesMs, 99),
        unit: 'ms',
        bound: { atMost: p99 },
        detail,
      },
    );
  }
  return figures;
}

/** Whether a long answer costs more bytes a token than a short one. */
export async function bytesPerToken(): Promise<Figure[]> {
  const rate = 5_000;
  const short = await play({ count: 1_000, rate, cadenceMs: 33 });
  const long = await play({ count: 60_000, rate, cadenceMs: 33 });
  const [a, b] = [short.bytes / 1_000, long.bytes / 60_000];
  const detail = `${b.toFixed(1)} against ${a.toFixed(1)} bytes a token of 16`;
  return [
    {
      name: 'bytes a token, 60,000 against 1,000 tokens',
      value: b / a,
      unit: '×',
      bound: { atMost: 1.1 },
      detail,
    },
  ];
}

/** What Liminal adds to the time from an ACP agent's writing to its reader's having it, at 200 chunks a second. */
export async function acpLatency(): Promise<Figure[]> {
  const flood = { count: 2_000, rate: 200 };
  const bare: number[] = [];
  await readAcpSource(flood, (text) => bare.push(microseconds() / 1000 - Number(text) / 1000));
  const ours = await play({ agent: 'acp', ...flood, cadenceMs: 0 });
  const [a, b] = [percentile(bare, 50), percentile(ours.latenciesMs, 50)];
  const detail = `${b.toFixed(2)} ms to the client against ${a.toFixed(2)} ms to a bare reader, 2,000 chunks`;
  const name = 'ACP at 200 chunks/s, cadence 0 ms, p50 added';
  return [{ name, value: b - a, unit: 'ms', bound: { atMost: 1 }, detail }];
}

const microseconds = (): number => Number(process.hrtime.bigint() / 1000n);
