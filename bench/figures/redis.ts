import type { EventPayload, StreamEvent } from '@liminal/protocol';
import { stampEvent } from '@liminal/protocol';
import { openRedis } from '@liminal/storage/redis';
import { startRedis } from '@liminal/testkit';
import { Redis } from 'ioredis';
import {
  type Figure,
  quotientOf,
  median,
  percentile,
  percentileOf,
  repeat,
  shareOf,
} from '../parts/figure.ts';

/** The number of runs at the same time, and the number of events in each run. */
const flood = { runs: 50, events: 1_000 };
const rounds = 5;
const messages = 1_000;
const longRun = 10_000;
const finished = 10_000;
const measuredRuns = 5;

/** Compares the log in Redis with the bare Redis commands that the log uses, on the same Redis in the same run. */
export async function* redis(): AsyncGenerator<Figure> {
  const server = await startRedis();
  try {
    yield await appendShare(server.url, 1);
    yield await appendShare(server.url, 20);
    yield await latencyRatio(server.url);
    yield* await replay(server.url);
    yield await memoryOfEvents(server.url);
    yield await memoryGrowth(server.url);
  } finally {
    await server.stop();
  }
}

/**
 * Measures how many events a second are appended to many runs at the same time. Each run waits for its previous append.
 */
async function appendShare(url: string, batch: number): Promise<Figure> {
  const bare = new Redis(url, { enableAutoPipelining: true });
  const ours = await openRedis({ url });
  const pairs = await repeat(rounds, async () => {
    await bare.flushall();
    const floor = await rateOf(batch, async (runId, events) => {
      const key = `bare:${runId}`;
      await Promise.all(events.map(async (event) => bare.xadd(key, '*', ...fieldsOf(event))));
    });
    await bare.flushall();
    return { floor, ours: await rateOf(batch, async (...args) => ours.log.append(...args)) };
  });
  bare.disconnect();
  await ours.close();
  const [a, b] = [median(pairs.map((r) => r.floor)), median(pairs.map((r) => r.ours))];
  return {
    name: `Redis append, ${batch} events at a time, share of bare pipelined XADD`,
    ...shareOf(pairs, 60, 'events/s'),
    detail: `${Math.round(b)} events/s of ${Math.round(a)}, ${flood.runs} runs at once, medians of ${rounds}`,
  };
}

async function rateOf(
  batch: number,
  append: (runId: string, events: StreamEvent[]) => Promise<void>,
): Promise<number> {
  const runs = Array.from({ length: flood.runs }, (_, index) => {
    const runId = uuidOf(index);
    return { runId, events: eventsOf(runId, flood.events) };
  });
  const began = performance.now();
  const written = runs.map(async ({ runId, events }) => {
    for (let at = 0; at < events.length; at += batch) {
      await append(runId, events.slice(at, at + batch));
    }
  });
  await Promise.all(written);
  return (flood.runs * flood.events * 1000) / (performance.now() - began);
}

/**
 * Measures the time from an append on one server to its receipt on another server, divided by the time from XADD to
 * XREAD. Both times are measured alternately.
 */
async function latencyRatio(url: string): Promise<Figure> {
  const [writer, reader] = [new Redis(url), new Redis(url)];
  const [one, two] = [await openRedis({ url }), await openRedis({ url })];
  const followed = two.log.follow('latency')[Symbol.asyncIterator]();
  const [bare, ours]: [number[], number[]] = [[], []];
  let last = '0-0';
  for (const event of eventsOf('latency', messages)) {
    const read = reader.xread('BLOCK', 10_000, 'STREAMS', 'bare', last);
    bare.push(await timed(read, () => void writer.xadd('bare', '*', ...fieldsOf(event))));
    last = (await read)?.[0]?.[1].at(-1)?.[0] ?? last;
    ours.push(await timed(followed.next(), () => void one.log.append('latency', [event])));
  }
  for (const connection of [writer, reader]) connection.disconnect();
  await one.close();
  await two.close();
  const [a, b] = [percentile(bare, 50), percentile(ours, 50)];
  const [a99, b99] = [percentile(bare, 99), percentile(ours, 99)];
  return {
    name: 'Redis append to another server’s reader, p50 against XADD to XREAD',
    ...quotientOf({ floor: bare, ours }, 50, 2),
    detail: `${b.toFixed(3)} ms against ${a.toFixed(3)} ms, p99 ${b99.toFixed(2)} against ${a99.toFixed(2)} ms, ${messages} events`,
  };
}

/** Calls `bring`, and resolves with the ms until the promise `awaited` resolves. */
async function timed(awaited: Promise<unknown>, bring: () => void): Promise<number> {
  // Wait until the reader waits in Redis, so that only the transfer is measured.
  await new Promise((resolve) => setTimeout(resolve, 1));
  const began = performance.now();
  bring();
  await awaited;
  return performance.now() - began;
}

async function replay(url: string): Promise<Figure[]> {
  const opened = await openRedis({ url });
  const { log } = opened;
  await log.append('long', eventsOf('long', longRun));
  const times = await repeat(rounds, async () => {
    const began = performance.now();
    const { length } = await log.read('long');
    const read = performance.now() - began;
    let followed = 0;
    for await (const _ of log.follow('long')) if (++followed === longRun) break;
    return { length, read, follow: performance.now() - began - read };
  });
  await opened.close();
  const detail = `${longRun} events, median of ${rounds}; ${times[0]?.length} came`;
  const bound = { atMost: 100 };
  return [
    {
      name: 'Redis replay, read',
      ...percentileOf(
        times.map((t) => t.read),
        50,
      ),
      unit: 'ms',
      bound,
      detail,
    },
    {
      name: 'Redis replay, followed',
      ...percentileOf(
        times.map((t) => t.follow),
        50,
      ),
      unit: 'ms',
      bound,
      detail,
    },
  ];
}

/** Measures Redis's memory for each event of open runs. */
async function memoryOfEvents(url: string): Promise<Figure> {
  const admin = new Redis(url);
  await admin.flushall();
  const opened = await openRedis({ url });
  let count = 0;
  const held = await repeat(measuredRuns, async () => {
    count += 1;
    const runId = uuidOf(count);
    for (const event of eventsOf(runId, flood.events)) await opened.log.append(runId, [event]);
    const bytes = await admin.memory('USAGE', `codex:run:${runId}:events`, 'SAMPLES', 0);
    return Number(bytes) / flood.events;
  });
  await opened.close();
  admin.disconnect();
  return {
    name: 'Redis memory of a run under way, for each event',
    ...percentileOf(held, 50),
    unit: 'B',
    bound: { atMost: 500 },
    detail: `runs of ${flood.events} events of some 100 characters, median of ${measuredRuns}`,
  };
}

/** Compares Redis's memory after many finished runs with its memory after a tenth of these runs. */
async function memoryGrowth(url: string): Promise<Figure> {
  const admin = new Redis(url);
  await admin.flushall();
  const opened = await openRedis({ url, settledTtlMs: 1 });
  const projecting = new AbortController();
  const claims = opened.coordination.registry.claims('bench', projecting.signal);
  const projected = (async () => {
    for await (const claim of claims) {
      await opened.log.settle(claim.runId);
      await claim.done();
    }
  })();
  const after = async (from: number, to: number): Promise<number> => {
    for (let index = from; index < to; index += 100) {
      const ids = Array.from({ length: 100 }, (_, n) => `finished-${index + n}`);
      await Promise.all(ids.map(async (runId) => opened.log.append(runId, wholeRun(runId))));
    }
    while ((await opened.log.unsettled()).length > 0) await pause(20);
    // Redis deletes an expired key only when it reaches the key: until then, the key is not listed, but uses memory.
    // The registry does not expire.
    while ((await admin.dbsize()) > 1) await pause(20);
    const info = await admin.info('memory');
    const told = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
    // The buffers of connections are subtracted, because their sizes vary.
    return told('used_memory') - told('mem_clients_normal');
  };
  const tenth = await after(0, finished / 10);
  const all = await after(finished / 10, finished);
  projecting.abort();
  await projected;
  await opened.close();
  admin.disconnect();
  return {
    name: `Redis memory after ${finished} finished runs, against a tenth of them`,
    value: all / tenth,
    unit: '×',
    bound: { atMost: 1.1 },
    detail: `${(all / 2 ** 20).toFixed(2)} against ${(tenth / 2 ** 20).toFixed(2)} MiB`,
  };
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

/** Returns the events of a run with a text of about 2,000 characters. */
function wholeRun(runId: string): StreamEvent[] {
  return eventsOf(runId, 50, { type: 'response_done', status: 'completed' });
}

/** Returns an id that is as long as a real id. */
function uuidOf(index: number): string {
  return `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
}

function fieldsOf({ timestamp, payload: { type, ...payload } }: StreamEvent): string[] {
  return ['type', type, 'timestamp', timestamp, 'payload', JSON.stringify(payload)];
}

function eventsOf(runId: string, count: number, ...ends: EventPayload[]): StreamEvent[] {
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const run = { runId, sessionId: uuidOf(-1), traceContext: { traceparent } };
  const timestamp = new Date().toISOString();
  const deltas = Array.from({ length: count }, (_, seq): EventPayload => {
    const deltaContent = `Some words of the answer, ${seq}. `;
    return { type: 'item_delta', itemId: 'item-1', deltaContent };
  });
  return [...deltas, ...ends].map((payload, seq) =>
    stampEvent({ turnId: runId, timestamp, payload }, run, seq),
  );
}
