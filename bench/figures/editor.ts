import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Flood, floodingAgent, promptOf } from '../parts/acp-source.ts';
import { Editor, type Program } from '../parts/editor.ts';
import {
  addedOf,
  type Figure,
  median,
  percentile,
  percentileOf,
  repeat,
  shareOf,
} from '../parts/figure.ts';
import { Measured } from '../parts/process.ts';
import { token } from '../parts/token.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const warmUp: Flood = { count: 20_000, rate: 0 };
const flood: Flood = { count: 200_000, rate: 0 };
const paced: Flood = { count: 2_000, rate: 200 };
/** The number of characters in a delta. */
const size = 16;

/**
 * Compares an editor (the protocol's own SDK) that reaches an agent through `liminal acp` and a server on SQLite with
 * the same editor connected directly to the agent.
 */
export async function* editor(): AsyncGenerator<Figure> {
  yield* await flatOut();
  yield* await added(0, 2, 20);
  yield* await added(33, 2, 20);
}

/** Measures the rate of an agent that writes as fast as possible, and the memory that `liminal acp` uses afterwards. */
async function flatOut(): Promise<Figure[]> {
  const bareAgent = { command: process.execPath, args: [here('../parts/sdk-agent.ts')] };
  const pairs = await repeat(3, async () => {
    const floor = await throughBare(bareAgent);
    const { rate, memory } = await through(33, async (one) => {
      const rate = await rateOf(one);
      return { rate, memory: one.residentMiB };
    });
    return { floor, ours: rate, memory };
  });
  const rate = Math.round(median(pairs.map((pair) => pair.ours)));
  const bare = Math.round(median(pairs.map((pair) => pair.floor)));
  return [
    {
      name: 'an editor flat out, share of the SDK’s own agent and client',
      ...shareOf(pairs, 60, 'deltas/s'),
      detail: `${rate} deltas/s, of ${bare} from an agent of the SDK’s on stdio`,
    },
    {
      name: 'liminal acp beside a server, resident',
      value: Math.max(...pairs.map((pair) => pair.memory)),
      unit: 'MiB',
      bound: { atMost: 60 },
      detail: `after turns of ${warmUp.count} and ${flood.count} deltas, the largest of three`,
    },
  ];
}

async function throughBare(program: Program): Promise<number> {
  const one = await Editor.start(program, process.cwd());
  try {
    return await rateOf(one);
  } finally {
    await one.end();
  }
}

/** Resolves with the rate at which the editor receives deltas, per second, from the first delta to the last. */
async function rateOf(one: Editor): Promise<number> {
  await one.prompt(promptOf(warmUp), () => {});
  let length = 0;
  let first = 0;
  await one.prompt(promptOf(flood), (text) => {
    first ||= performance.now();
    length += text.length;
  });
  if (length !== flood.count * size)
    throw new Error('The editor did not receive the whole answer.');
  return (flood.count * 1000) / (performance.now() - first);
}

/** Measures the time that the programs between agent and editor add, in ms, at 200 deltas a second. */
async function added(cadenceMs: number, p50: number, p99: number): Promise<Figure[]> {
  const agent = await floodingAgent([warmUp, paced]);
  const alone = await Editor.start(agent, process.cwd());
  const bare = await latencies(alone);
  await alone.end();
  await agent.control.close();
  const ours = await through(cadenceMs, latencies);
  const both = { floor: bare, ours };
  const times = (all: readonly number[]) =>
    `${percentile(all, 50).toFixed(2)} / ${percentile(all, 99).toFixed(2)} ms`;
  const detail = `p50 / p99: ${times(ours)} against ${times(bare)} with the agent alone, 2,000 deltas`;
  const name = `an editor at 200 deltas/s, cadence ${cadenceMs} ms, added`;
  return [
    { name: `${name}, p50`, ...addedOf(both, 50, p50), detail },
    { name: `${name}, p99`, ...addedOf(both, 99, p99), detail },
    {
      name: `an editor at 200 deltas/s, cadence ${cadenceMs} ms, agent to editor, P95`,
      ...percentileOf(ours, 95),
      unit: 'ms',
      // NFR-039-01.
      bound: { atMost: 150 },
      detail,
    },
  ];
}

/** Resolves with the time from the agent's write to the editor's receipt of each delta, in ms. */
async function latencies(one: Editor): Promise<number[]> {
  await one.prompt(promptOf(warmUp), () => {});
  const arrivals: number[] = [];
  let said = '';
  await one.prompt(promptOf(paced), (text) => {
    said += text;
    const at = Number(process.hrtime.bigint() / 1000n);
    while (arrivals.length < Math.floor(said.length / size)) arrivals.push(at);
  });
  const times = said.trim().split(' ').map(Number);
  if (times.length !== paced.count) throw new Error('The editor did not receive the whole answer.');
  return arrivals.map((at, index) => (at - (times[index] ?? 0)) / 1000);
}

/** Runs `work` with an editor that is connected to the scripted agent through `liminal acp` and a server of its own. */
async function through<T>(cadenceMs: number, work: (one: Editor) => Promise<T>): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'liminal-bench-'));
  const floods = JSON.stringify([warmUp, flood, paced]);
  const server = await Measured.start([
    here('../parts/source-server.ts'),
    dataDir,
    String(cadenceMs),
    floods,
  ]);
  const url = `http://127.0.0.1:${server.firstLine}`;
  await writeFile(join(dataDir, 'server.json'), JSON.stringify({ url, token, pid: process.pid }));
  // The command that an editor runs.
  const args = [here('../../liminal'), 'acp', '--agent', 'acp', '--data', dataDir];
  const one = await Editor.start({ command: process.execPath, args }, dataDir);
  try {
    return await work(one);
  } finally {
    await one.end();
    await server.end();
    await rm(dataDir, { recursive: true });
  }
}
