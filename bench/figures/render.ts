import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { Connection } from '../parts/connection.ts';
import {
  type Compared,
  type Figure,
  median,
  percentile,
  percentileOf,
  quotientOf,
  repeat,
} from '../parts/figure.ts';
import { launchBrowser } from '../parts/page-visit.ts';
import { Measured } from '../parts/process.ts';
import { SeenInPage } from '../parts/seen-in-page.ts';
import { token } from '../parts/token.ts';

const part = (name: string): string => fileURLToPath(new URL(`../parts/${name}`, import.meta.url));
const webApp = fileURLToPath(new URL('../../packages/web/dist', import.meta.url));

/** The message that selects the agent's output: 300 deltas, 100 a second. */
const turnMessage = '300 100';
const warmUp = '60 100';
const roundCount = 10;
/** The message and number of turns: 40 short turns. Only the first text of each turn is measured. */
const firstTextLoad = { message: '10 50', turns: 40 };
/** NFR-000-04. */
const firstMs = 200;

interface Place {
  browser: Browser;
  connection: Connection;
  dataDir: string;
  origin: string;
}

/**
 * Measures the time from the agent's write of a delta until the page paints the delta, with each delta as one event
 * (cadence 0) and with the server's default settings (NFR-000-03). The time is compared with the direct path, on which
 * the same source is passed on at once to the same page.
 */
export async function* render(): AsyncGenerator<Figure> {
  const name = '100 deltas/s, painted in the page';
  const ms = ({ floor, ours }: Compared, p: number): string =>
    `${percentile(ours, p).toFixed(1)} against ${percentile(floor, p).toFixed(1)} ms`;
  const detail = (both: Compared): string =>
    `median ${ms(both, 50)} by the direct way, P95 ${ms(both, 95)}; ${both.ours.length} deltas each, ${roundCount} turns in turn`;
  for (const cadenceMs of [0, 33]) {
    const both = await withServer(cadenceMs, comparePaths);
    for (const p of [50, 95]) {
      yield {
        name: `${name}, cadence ${cadenceMs} ms, P${p} against the direct way`,
        ...quotientOf(both, p, 1.1),
        detail: detail(both),
      };
    }
  }
}

/**
 * Measures the time from the beginning of the agent's answer until its first text arrives at a client and is painted in
 * the page, with the server's default settings.
 */
export async function* firstText(): AsyncGenerator<Figure> {
  const { client, page } = await withServer(33, async (place) => ({
    client: await firstAtClient(place),
    page: await firstInPage(place),
  }));
  for (const [where, times] of Object.entries({ 'at a client': client, 'in the page': page })) {
    yield {
      name: `first text ${where} after the answer’s beginning, P95`,
      ...percentileOf(times, 95),
      unit: 'ms',
      bound: { atMost: firstMs },
      detail: `median ${median(times).toFixed(1)} ms, the longest ${Math.max(...times).toFixed(1)} ms of ${times.length}, cadence 33 ms`,
    };
  }
}

/** Measures the direct path and Liminal's path alternately in the same page. */
async function comparePaths(place: Place): Promise<Compared> {
  const { connection, dataDir } = place;
  const sessionId = await connection.create('source', dataDir);
  const direct = await Measured.start([part('direct-server.ts'), sessionId]);
  const page = await openPage(place, sessionId);
  try {
    const { send: say } = await page.connect(direct.firstLine);
    const bare = (message: string) => page.latencies(() => say(message));
    const ours = (message: string) =>
      page.latencies(async () => void (await connection.post(`${sessionId}/send`, { message })));
    await ours(warmUp);
    await bare(warmUp);
    const rounds = await repeat(roundCount, async () => ({
      floor: await bare(turnMessage),
      ours: await ours(turnMessage),
    }));
    return {
      floor: rounds.flatMap((round) => round.floor),
      ours: rounds.flatMap((round) => round.ours),
    };
  } finally {
    await page.close();
    await direct.end();
  }
}

async function firstAtClient({ connection, dataDir }: Place): Promise<number[]> {
  const sessionId = await connection.create('source', dataDir);
  let first: number | undefined;
  let ended = Promise.withResolvers<void>();
  const socket = await connection.follow(sessionId, (message) => {
    if (message.type === 'session:upsert' && message.payload.type === 'message') {
      const { origin, content } = message.payload;
      if (origin === 'agent' && content !== '')
        first ??= nowMs() - Number(content.slice(0, 15)) / 1000;
    }
    if (message.type === 'session:turn' && message.payload.type !== 'turn_started') ended.resolve();
  });
  const play = async (): Promise<number> => {
    first = undefined;
    ended = Promise.withResolvers();
    await connection.post(`${sessionId}/send`, { message: firstTextLoad.message });
    await ended.promise;
    return first ?? Number.NaN;
  };
  // Skip the first turn of a session, which starts the agent and compiles much code.
  await play();
  const times = await repeat(firstTextLoad.turns, play);
  socket.close();
  return times;
}

async function firstInPage(place: Place): Promise<number[]> {
  const { connection, dataDir } = place;
  const sessionId = await connection.create('source', dataDir);
  const page = await openPage(place, sessionId);
  const { message } = firstTextLoad;
  const play = async (): Promise<number> => {
    const send = async () => void (await connection.post(`${sessionId}/send`, { message }));
    const [first = Number.NaN] = await page.latencies(send);
    return first;
  };
  try {
    await play();
    return await repeat(firstTextLoad.turns, play);
  } finally {
    await page.close();
  }
}

function openPage({ browser, origin }: Place, sessionId: string): Promise<SeenInPage> {
  return SeenInPage.open(browser, `${origin}/session/${sessionId}?token=${token}`);
}

async function withServer<T>(cadenceMs: number, work: (place: Place) => Promise<T>): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'liminal-render-'));
  const args = [part('source-server.ts'), dataDir, String(cadenceMs)];
  const server = await Measured.start(args, { ...process.env, BENCH_WEB: webApp });
  const browser = await launchBrowser();
  try {
    const origin = `http://127.0.0.1:${server.firstLine}`;
    return await work({ browser, connection: new Connection(origin), dataDir, origin });
  } finally {
    await browser.close();
    await server.end();
    await rm(dataDir, { recursive: true });
  }
}

const nowMs = (): number => Number(process.hrtime.bigint() / 1000n) / 1000;
