import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { EventPayload } from '@liminal/protocol';
import { stampEvent, StreamEvent } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { findPython } from '../../../scripts/bootstrap/services.mjs';
import { ask, ownRedis } from './redis-stage.ts';

const runId = '5f0c6a52-6b1f-4d5e-9a35-0d1f7b8f4a11';
const key = `codex:run:${runId}:events`;
const run = {
  runId,
  sessionId: 'session-1',
  traceContext: { traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`, tracestate: 'a=b' },
};
const payloads: EventPayload[] = [
  { type: 'response_start', modelId: 'model', providerId: 'provider' },
  { type: 'item_start', itemId: 'a', itemType: 'message' },
  { type: 'item_delta', itemId: 'a', deltaContent: 'Grüße 🌍' },
  { type: 'heartbeat' },
  { type: 'item_delta', itemId: 'a', deltaContent: ' "quoted"\n' },
  { type: 'response_done', status: 'completed' },
];
const events = payloads.map((payload, seq) =>
  stampEvent({ turnId: 'turn-1', timestamp: '2026-01-01T00:00:00.000Z', payload }, run, seq),
);

/** The events that a program in Python reads of the run, until the run ends. */
async function readInPython(url: string): Promise<unknown[]> {
  const python = findPython(process.env);
  if (python === undefined) throw new Error('There is no Python with redis-py. Run npm test.');
  const script = fileURLToPath(new URL('read-run.py', import.meta.url));
  const { stdout } = await promisify(execFile)(python, [script, url, key]);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}

/** An entry's fields, parsed unless they are text. */
function entryOf([, fields]: [string, string[]]): Record<string, unknown> {
  const pairs = fields.flatMap((name, at) =>
    at % 2 === 0 && name !== 'run' ? [[name, fields[at + 1]!] as const] : [],
  );
  const json = ['seq', 'payload', 'traceContext'];
  return Object.fromEntries(
    pairs.map(([name, value]) => [name, json.includes(name) ? JSON.parse(value) : value]),
  );
}

test('FR-001-38: a program in Python reads the canonical events of a run, each from one entry', async () => {
  const { redis, open } = await ownRedis();
  const { log } = await open();
  const reading = readInPython(redis.url);
  // Append a single event, a further one, then several together, at last with the terminal event.
  await log.append(runId, events.slice(0, 1));
  await log.append(runId, events.slice(1, 2));
  await log.append(runId, events.slice(2, 4));
  await log.append(runId, events.slice(4));
  const read = await reading;
  expect(read.map((event) => StreamEvent.parse(event))).toEqual(events);
});

test('FR-001-38: the events that remain after trimming still have their session, turn and run', async () => {
  const { redis, open } = await ownRedis();
  const { log } = await open();
  for (const event of events) await log.append(runId, [event]);
  await ask(redis, 'XTRIM', key, 'MAXLEN', '1');
  const left = (await ask(redis, 'XRANGE', key, '-', '+')) as [string, string[]][];
  expect(left.map(entryOf)).toEqual(events.slice(-1));
});

test('FR-001-38: a run that is closed without a terminal event has a mark instead', async () => {
  const { redis, open } = await ownRedis();
  const { log } = await open();
  await log.append(runId, events.slice(0, 2));
  const reading = readInPython(redis.url);
  await log.settle(runId);
  expect(await reading).toMatchObject([...events.slice(0, 2), { settled: true }]);
});

test('entries of the previous version are read and followed, and such a run continues', async () => {
  const { redis, open } = await ownRedis();
  const { log } = await open();
  const constants = JSON.stringify({
    sessionId: run.sessionId,
    turnId: 'turn-1',
    traceContext: run.traceContext,
  });
  const followed: StreamEvent[] = [];
  const following = (async () => {
    for await (const event of log.follow(runId)) followed.push(event);
  })();
  // Write entries as servers of the previous version did: the run's constants in the first entry, and payloads
  // without their type.
  await ask(redis, 'HSET', `{${key}}:run`, 'constants', constants);
  for (const [seq, { type, timestamp, payload }] of events.slice(0, 3).entries()) {
    const { type: _, ...rest } = payload;
    const first = seq === 0 ? ['run', constants] : [];
    const fields = ['type', type, 'timestamp', timestamp, 'payload', JSON.stringify(rest)];
    await ask(redis, 'XADD', key, `0-${seq + 1}`, ...fields, ...first);
  }
  expect(await log.read(runId)).toEqual(events.slice(0, 3));
  await log.append(runId, events.slice(3));
  await following;
  expect(followed).toEqual(events);
  expect(await log.read(runId)).toEqual(events);
});

test('servers of the previous version find their fields in new entries', async () => {
  const { redis, open } = await ownRedis();
  const { log } = await open();
  await log.append(runId, events);
  const entries = (await ask(redis, 'XRANGE', key, '-', '+')) as [string, string[]][];
  const names = entries.map(([, fields]) => fields.filter((_, at) => at % 2 === 0).slice(0, 4));
  expect(names[0]).toEqual(['type', 'timestamp', 'payload', 'run']);
  expect(names[1]?.slice(0, 3)).toEqual(['type', 'timestamp', 'payload']);
  expect(JSON.parse(entries[0]![1][7]!)).toEqual({
    sessionId: 'session-1',
    turnId: 'turn-1',
    traceContext: run.traceContext,
  });
});
