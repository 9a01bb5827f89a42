/** Another program writes to keys of a Redis that it shares with Liminal: only the data of these keys is lost. */
import type { StreamEvent } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { delta, done, eventsOf, start, wholeRun } from '../src/testing/runs.ts';
import { ask, ownRedis } from './redis-stage.ts';

const patience = { timeout: 60_000 };
const events = 'codex:run:spoilt:events';
const run = `{${events}}:run`;
type Redis = Awaited<ReturnType<typeof ownRedis>>['redis'];
const replace = async (redis: Redis, key: string): Promise<void> => {
  await ask(redis, 'DEL', key);
  await ask(redis, 'SET', key, 'foreign');
};

const faults: [fault: string, spoil: (redis: Redis) => Promise<unknown>][] = [
  ['has a foreign entry', async (redis) => ask(redis, 'XADD', events, '*', 'foo', 'bar')],
  [
    'has a foreign entry that looks like an event',
    async (redis) => ask(redis, 'XADD', events, '*', 'type', 'x', 'timestamp', 'x', 'payload', '{'),
  ],
  ['is not a stream', async (redis) => replace(redis, events)],
  ['has fields that are not a hash', async (redis) => replace(redis, run)],
];

test.each(faults)(
  'SAFE: if the stream of a run %s, all other runs are written, read, followed and listed',
  async (_fault, spoil) => {
    const { redis, open } = await ownRedis();
    const [writer, reader] = [await open(), await open()];
    const [spoilt, whole] = [wholeRun('spoilt', ['a', 'b']), wholeRun('whole', ['a', 'b'])];
    await writer.log.append('spoilt', spoilt.slice(0, 2));
    await writer.log.append('whole', whole.slice(0, 2));
    const followed: StreamEvent[][] = [[], []];
    const following = [writer, reader].map(async ({ log }, at) => {
      for await (const event of log.follow('whole')) followed[at]?.push(event);
    });
    const seen: StreamEvent[][] = [[], []];
    const ended = [writer, reader].map(async ({ log }, at) => {
      for await (const event of log.follow('spoilt')) seen[at]?.push(event);
    });
    await expect.poll(() => seen.map(({ length }) => length), patience).toEqual([2, 2]);
    await spoil(redis);
    expect((await reader.log.unsettled()).map(({ runId }) => runId)).toContain('whole');
    for (const [at, event] of whole.entries().drop(2)) {
      await writer.log.append('whole', [event]);
      const upTo = whole.slice(0, at + 1);
      await expect.poll(() => followed, patience).toStrictEqual([upTo, upTo]);
    }
    await Promise.all(following);
    await expect(writer.log.append('spoilt', spoilt.slice(2))).rejects.toMatchObject({
      code: 'SEQ_CONFLICT',
    });
    const claimed: string[] = [];
    const stop = new AbortController();
    for await (const claim of reader.coordination.registry.claims('worker', stop.signal)) {
      claimed.push(claim.runId);
      if (claim.runId === 'whole') stop.abort();
    }
    expect(claimed).toContain('whole');
    await writer.log.settle('spoilt');
    expect((await reader.log.unsettled()).map(({ runId }) => runId)).toEqual(['whole']);
    // Readers got the two intact events, and no others.
    for (const each of seen) expect(each).toStrictEqual(spoilt.slice(0, 2));
    for (const { log } of [writer, reader]) await log.close();
    await Promise.all(ended);
  },
);

test('SAFE: a page of foreign entries behind a run is not read again and again', async () => {
  const { redis, open } = await ownRedis();
  const { log } = await open();
  const written = eventsOf('spoilt', [start, delta('a')]);
  await log.append('spoilt', written);
  for (let at = 0; at < 5; at += 1) {
    await ask(redis, 'XADD', events, `0-${1_000 + at}`, 'foo', 'bar');
  }
  expect(await log.read('spoilt', { limit: 4 })).toStrictEqual(written);
});

test('SAFE: a posting, a lease or a channel of another program does not hide others', async () => {
  const { redis, open } = await ownRedis();
  const { coordination } = await open();
  const { board, leases } = coordination;
  await board.post('one', 'text', 60_000);
  await leases.acquire('one', 'server', 60_000);
  await ask(redis, 'RPUSH', 'codex:board:two', 'foreign');
  await ask(redis, 'RPUSH', 'codex:lease:two', 'foreign');
  await ask(redis, 'HSET', 'codex:lease:three', 'holder', 'x', 'token', 'x', 'until', 'x');
  expect(await board.read(['one', 'two'])).toEqual(new Map([['one', 'text']]));
  expect([...(await leases.holders(['one', 'two', 'three'])).keys()]).toEqual(['one']);
  const posted: string[] = [];
  await board.watch('', { onPost: (name) => void posted.push(name), onGap: () => undefined });
  await ask(redis, 'PUBLISH', 'codex:board:%zz', 'foreign');
  await board.post('four', 'text', 60_000);
  await expect.poll(() => posted, patience).toEqual(['four']);
});

test('SAFE: an inbox is read again when its key is a stream again', async () => {
  const { redis, open } = await ownRedis();
  const { coordination } = await open();
  const heard: string[] = [];
  await coordination.inboxes.open('here', (message) => void heard.push(message));
  const inbox = 'codex:inbox:here';
  await replace(redis, inbox);
  await ask(redis, 'DEL', inbox);
  expect(await coordination.inboxes.send('here', 'hello')).toBe(true);
  await expect.poll(() => heard, patience).toEqual(['hello']);
});

test('a refusal of Redis is reported with advice', async () => {
  const { redis, open } = await ownRedis();
  const { log } = await open();
  await ask(redis, 'CONFIG', 'SET', 'maxmemory', '1');
  const full = log.append('run', eventsOf('run', [start, done]));
  await expect(full).rejects.toThrow(/memory is full: increase maxmemory/);
  await ask(redis, 'CONFIG', 'SET', 'maxmemory', '0');
  await ask(redis, 'REPLICAOF', '127.0.0.1', '1');
  await expect(log.append('other', eventsOf('other', [start]))).rejects.toThrow(
    /connect to the primary/,
  );
});
