import { play } from '../parts/play.ts';
import { playSandboxAgent } from '../parts/sandbox-agent.ts';
import {
  addedOf,
  type Figure,
  median,
  percentile,
  ratioOf,
  repeat,
  shareOf,
} from '../parts/figure.ts';

const floodLoad = { count: 300_000, rate: 0 };
const pacedLoad = { count: 1_000, rate: 200 };
const roundCount = 3;

/** Compares Liminal with its default settings and sandbox-agent: both run the same scripted ACP agent, alternately. */
export async function* sandboxAgent(): AsyncGenerator<Figure> {
  yield* paced();
  yield* flood();
}

async function* paced(): AsyncGenerator<Figure> {
  const rounds = await repeat(roundCount, async () => ({
    theirs: await playSandboxAgent(pacedLoad),
    ours: await play({ agent: 'acp', ...pacedLoad, cadenceMs: 33 }),
  }));
  const latencies = {
    floor: rounds.flatMap(({ theirs }) => theirs.latenciesMs),
    ours: rounds.flatMap(({ ours }) => ours.latenciesMs),
  };
  const name = `beside sandbox-agent, ${pacedLoad.rate} chunks/s`;
  for (const { p, atMost } of [
    { p: 50, atMost: 1 },
    { p: 99, atMost: 10 },
  ]) {
    const [a, b] = [percentile(latencies.floor, p), percentile(latencies.ours, p)];
    const detail = `${b.toFixed(2)} ms, durable, against ${a.toFixed(2)} ms, not stored`;
    yield { name: `${name}: added at p${p}`, ...addedOf(latencies, p, atMost), detail };
  }
  const perChunk = (cpuMs: number): number => (cpuMs * 1000) / pacedLoad.count;
  const pairs = rounds.map(({ theirs, ours }) => ({
    floor: perChunk(theirs.cpuMs),
    ours: perChunk(ours.cpuMs),
  }));
  const [ours, theirs] = [pairs.map((pair) => pair.ours), pairs.map((pair) => pair.floor)];
  const detail = `${median(ours).toFixed(0)} against ${median(theirs).toFixed(0)} µs CPU a chunk; it stores nothing`;
  yield { name: `${name}: CPU a chunk`, ...ratioOf(pairs, 8, 'µs'), detail };
}

async function* flood(): AsyncGenerator<Figure> {
  const rounds = await repeat(roundCount, async () => ({
    theirs: await playSandboxAgent(floodLoad),
    ours: await play({ agent: 'acp', ...floodLoad, cadenceMs: 33 }),
  }));
  const pairs = rounds.map(({ theirs, ours }) => ({
    floor: ((floodLoad.count - theirs.lost) * 1000) / theirs.wallMs,
    ours: (floodLoad.count * 1000) / ours.wallMs,
  }));
  const [ours, theirs] = [pairs.map((pair) => pair.ours), pairs.map((pair) => pair.floor)];
  const name = 'beside sandbox-agent, flat out';
  const rates = `${median(ours).toFixed(0)} against ${median(theirs).toFixed(0)} chunks/s that arrive`;
  yield { name: `${name}: share of its rate`, ...shareOf(pairs, 100, 'chunks/s'), detail: rates };
  const lost = rounds.map((round) => (round.theirs.lost * 100) / floodLoad.count);
  yield {
    name: `${name}: runs with anything lost`,
    value: rounds.filter((round) => !round.ours.isWhole).length,
    unit: '',
    bound: { atMost: 0 },
    detail: `${floodLoad.count} chunks, ${roundCount} runs; it lost ${lost.map((share) => share.toFixed(0)).join(', ')} % of them`,
  };
}
